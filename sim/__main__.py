"""The command line: `python -m sim run | sweep | import | conformance | bench | compile`; `--json` on each.

Exit code 1 if a check fails, 2 for bad input with one line that names the field.
"""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sim import conformance as conform
from sim.axis import Axis, read_axis
from sim.bench import bench as measure
from sim.dialects import DEFAULT
from sim.engine.compiled import IS_COMPILED
from sim.errors import ScenarioError
from sim.importers import read_paste
from sim.importers.told import lines_of
from sim.report import requests_csv, summary_of
from sim.run import Run, Session
from sim.scenario import Scenario, scenario_from
from sim.setup_card import card_text, setup_card
from sim.sweep import CURVES, Crossing, Point, crossing_of, curves_of, peak_of, points, spots
from sim.workload import Trace, read_trace
from sim.workload.read import MAX_BYTES

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BATCH_STEPS = 50_000
BAD_INPUT = 2
SHORT = {"load": "burst", "prompt_list": "1,1", "output_list": "1,9", "cost": "unit"}
VACATING = {"batching": "static", "fork": 3, "fork.batching": "continuous"}
"""A fork that empties a held slot, which is compiled apart."""
SWEEP_COLUMNS = {
    "ttft_s.p50": "TTFT p50 s",
    "ttft_s.p95": "p95 s",
    "tpot_s.p50": "TPOT p50 s",
    "output_tokens_per_s": "tok/s",
    "requests_per_s": "req/s",
    "goodput_rps": "good/s",
}


def _read_trace(path: Path | None) -> Trace | None:
    if path is None:
        return None
    try:
        return read_trace(path.read_bytes(), path.name)
    except OSError as error:
        raise ScenarioError("trace", path, f"a file that can be read ({error.strerror})") from None


def _settings(pairs: list[str], trace: Trace | None) -> dict[str, Any]:
    settings: dict[str, Any] = {} if trace is None else {"load": "trace", "trace": trace.sha256}
    named = set()
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ScenarioError("--set", pair, "name=value")
        if name in named:
            raise ScenarioError(name, value, "one value; it is set twice")
        named.add(name)
        settings[name] = value
    return settings


def _simulate(session: Session) -> Run:
    """Run to the end, with a bar on a terminal when it takes long."""
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("simulating", total=len(session.requests.prompt_tokens))
        while not session.advance(BATCH_STEPS):
            progress.update(task, completed=session.ended)
    return session.run()


@app.command()
def run(
    trace: Annotated[Path | None, typer.Option(help="Trace file: CSV or JSON lines, gzip too.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="name=value, as in a URL.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write a row per request to this file.")] = None,
    dialect: Annotated[str, typer.Option(help="Whose definitions: vllm, guidellm or aiperf.")] = DEFAULT,
    as_json: Json = False,
) -> None:
    """Simulate a scenario and print what it comes to."""
    recorded = _read_trace(trace)
    result = _simulate(Session(scenario_from(_settings(settings or [], recorded)), recorded))
    if csv is not None:
        try:
            csv.write_text(requests_csv(result))
        except OSError as error:
            raise ScenarioError("--csv", csv, f"a file that can be written ({error.strerror})") from None
    summary = summary_of(result, dialect=dialect)
    if as_json:
        typer.echo(json.dumps(summary))
    else:
        _print_summary(summary)
        typer.echo(card_text(setup_card(result, dialect)))


def _print_summary(summary: dict[str, Any]) -> None:
    scenario, facts = summary["scenario"], summary["facts"]
    badge = "" if facts["calibrated"] else " (times uncalibrated)"
    title = f"{scenario['model']} on {scenario['gpu']}, {scenario['engine']}, seed {scenario['seed']}{badge}"
    table = Table("metric", "mean", "p50", "p90", "p95", "p99", title=title, title_justify="left")
    for name, value in summary["metrics"].items():
        cells = [value.get(k) for k in ("mean", "p50", "p90", "p95", "p99")] if isinstance(value, dict) else [value]
        if isinstance(value, dict) and "mean" not in value:
            continue
        table.add_row(name, *("–" if cell is None else f"{cell:,.4g}" for cell in cells))
    console = Console()
    console.print(table)
    for note in facts["notes"]:
        console.print(note)
    if summary["rejected"]:
        console.print(
            f"{len(summary['rejected'])} requests were not served; the first: {summary['rejected'][0]['reason']}"
        )


@app.command()
def sweep(
    x: Annotated[str, typer.Option(help="name=low:high:count, or name=value,value,…")],
    scenarios: Annotated[
        list[str] | None, typer.Option("--scenario", help="A further curve: b:name=value; again for more of it.")
    ] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="name=value, for all curves.")] = None,
    trace: Annotated[Path | None, typer.Option(help="Trace file: CSV or JSON lines, gzip too.")] = None,
    seeds: Annotated[int, typer.Option(help="Runs per point, with the seed and those after it.")] = 4,
    cross: Annotated[str, typer.Option(help="Where a metric rises to a level: metric=level.")] = "ttft_s.p50=2",
    as_json: Json = False,
) -> None:
    """Run scenarios at each value of a parameter: metrics with the least and greatest over the seeds."""
    recorded = _read_trace(trace)
    name, _, grid = x.partition("=")
    axis = read_axis(name, grid, "--x")
    path, level = _level(cross)
    curves = _curves(settings or [], scenarios or [], recorded)
    found = _sweep_points(curves, axis, seeds, recorded)
    by_curve = {name: [point for point in found if point.curve == name] for name in curves}
    crossings = {name: crossing_of(curve, path, level) for name, curve in by_curve.items()}
    if as_json:
        crossed = {"metric": path, "level": level, "curves": {name: asdict(each) for name, each in crossings.items()}}
        typer.echo(json.dumps(curves_of(axis, found) | {"seeds": seeds, "crossing": crossed}))
    else:
        _print_sweep(axis, by_curve)
        for curve, crossing in crossings.items():
            typer.echo(f"{curve}: {_in_words(crossing, path, level, axis)}")


def _curves(settings: list[str], scenarios: list[str], trace: Trace | None) -> dict[str, Scenario]:
    """Scenario by curve: a is what --set says, each --scenario NAME:… adds to that of its name."""
    plain = _settings(settings, trace)
    pairs: dict[str, list[str]] = {}
    for text in scenarios:
        name, colon, pair = text.partition(":")
        if not colon or not name.isidentifier() or name == "a":
            raise ScenarioError("--scenario", text, "NAME:name=value, NAME a word other than a")
        pairs.setdefault(name, []).append(pair)
    curves = {"a": scenario_from(plain)}
    for name, each in pairs.items():
        try:
            curves[name] = scenario_from(plain | _settings(each, None))
        except ScenarioError as error:
            raise ScenarioError(f"{name}.{error.field}", error.value, error.allowed) from None
    return curves


def _level(cross: str) -> tuple[str, float]:
    path, _, text = cross.partition("=")
    if path not in CURVES:
        raise ScenarioError("--cross", cross, f"metric=level, metric one of {', '.join(CURVES)}")
    try:
        level = float(text)
    except ValueError:
        level = math.nan
    if not math.isfinite(level):
        raise ScenarioError("--cross", cross, "metric=level, level a number")
    return path, level


def _sweep_points(curves: dict[str, Scenario], axis: Axis, seeds: int, trace: Trace | None) -> list[Point]:
    todo = spots(curves, axis, seeds)
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        return list(progress.track(points(todo, trace), total=len(todo), description="simulating"))


def _print_sweep(axis: Axis, curves: dict[str, list[Point]]) -> None:
    table = Table("curve", axis.name, *SWEEP_COLUMNS.values())
    for name, curve in curves.items():
        for point in curve:
            means = [point.band(path)["mean"] for path in SWEEP_COLUMNS]
            table.add_row(name, f"{point.x:,.6g}", *("–" if mean is None else f"{mean:,.4g}" for mean in means))
    Console().print(table)
    for name, curve in curves.items():
        if (best := peak_of(curve, "goodput_rps")) is not None:
            typer.echo(
                f"{name}: goodput peaks at {axis.name} = {best.x:g}: {best.band('goodput_rps')['mean']:.4g} req/s"
            )


def _in_words(crossing: Crossing, path: str, level: float, axis: Axis) -> str:
    seeds = crossing.crossed + crossing.above + crossing.below
    if crossing.mean is None or crossing.low is None or crossing.high is None:
        where = f"above from {axis.name} = {axis.values[0]:g} on" if crossing.above == seeds else "not crossed here"
        return f"{path} = {level:g}: {where}"
    band = f"{crossing.low:.4g} to {crossing.high:.4g} over {crossing.crossed} of {seeds} seeds"
    band += f"; by the points at {crossing.after:g} and {crossing.before:g}"
    return f"{path} reaches {level:g} at {axis.name} = {crossing.mean:.4g} ({band})"


@app.command("import")
def import_text(
    file: Annotated[Path, typer.Argument(help="A command, log, benchmark's result or trace; - is standard input.")],
    as_json: Json = False,
) -> None:
    """Read what you run: the scenario that a text describes, and the figures that it reports."""
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1) if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise ScenarioError("file", file, f"a file that can be read ({error.strerror})") from None
    reading = read_paste(data, file.name)
    if as_json:
        typer.echo(json.dumps(reading.as_json()))
    else:
        for line in lines_of(reading):
            typer.echo(line)


@app.command()
def conformance(paths: list[Path], as_json: Json = False) -> None:
    """Compare the engine with recorded traces, every field of every step."""
    verdicts = [conform.compare(trace, path) for path, trace in conform.read_traces(paths)]
    equal = sum(verdict.difference is None for verdict in verdicts)
    unequal = [verdict for verdict in verdicts if verdict.difference is not None]
    if as_json:
        rows = [{"trace": verdict.path, "difference": verdict.difference} for verdict in unequal]
        typer.echo(json.dumps({"equal": equal, "traces": len(verdicts), "unequal": rows}))
    else:
        for verdict in unequal:
            typer.echo(f"{verdict.path}: {verdict.difference}")
        typer.echo(f"{equal} of {len(verdicts)} traces equal")
    if unequal or not verdicts:
        raise typer.Exit(1)


@app.command()
def bench(
    trace: Annotated[Path, typer.Option(help="The Azure conversation trace (AzurePublicDataset, 2023).")],
    as_json: Json = False,
) -> None:
    """Measure steps a second, the Azure hour and memory."""
    if not trace.is_file():
        raise ScenarioError("trace", trace, "a trace file")
    figures = measure(trace)
    if as_json:
        typer.echo(json.dumps(figures))
    else:
        for name, value in figures.items():
            typer.echo(f"{name:28} {value:>16,}")


@app.command("compile")
def compile_engine(as_json: Json = False) -> None:
    """Compile the engine, so that no run waits for it."""
    start_s = time.perf_counter()
    for settings in (SHORT, SHORT | VACATING):
        Session(scenario_from(settings)).advance()
    seconds = round(time.perf_counter() - start_s, 2)
    typer.echo(json.dumps({"compiled": IS_COMPILED, "first_call_s": seconds}) if as_json else f"first call {seconds} s")


def main() -> None:
    """Run the command line; bad input is one line on stderr and exit code 2."""
    try:
        app()
    except ScenarioError as error:
        typer.echo(error, err=True)
        sys.exit(BAD_INPUT)


if __name__ == "__main__":
    main()
