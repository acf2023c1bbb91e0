"""The command line: `python -m sim run | conformance | bench | compile`; `--json` on each.

Exit code 1 if a check fails, 2 for bad input with one line that names the field.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sim import conformance as conform
from sim.bench import bench as measure
from sim.engine.compiled import IS_COMPILED
from sim.errors import ScenarioError
from sim.report import requests_csv, summary_of
from sim.run import Run, Session
from sim.scenario import scenario_from
from sim.workload import Trace, read_trace

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BATCH_STEPS = 50_000
BAD_INPUT = 2


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
    summary = summary_of(result)
    if as_json:
        typer.echo(json.dumps(summary))
    else:
        _print_summary(summary)


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
    session = Session(scenario_from({"load": "burst", "num_requests": "1"}))
    session.advance()
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
