"""The state of a run at a time, as the lab's panels print it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from app.blocks import memory_caption, memory_slices, owners_of, table_text
from app.moment import Moment, boundaries, moment_of
from app.params import write_query
from app.stepcard import (
    bound_sentence,
    budget_caption,
    budget_slices,
    budget_title,
    duration_text,
    time_parts,
    time_title,
)
from app.view import FrameView, Sentence, SlotRow, StepLinks, WaitRow, inner, series
from sim.explain import explain, explain_waiting
from sim.frame import Frame, Row
from sim.run import Run

MOST_WAITING = 6
MOST_SLOTS = 512


def frame_view(
    runs: Mapping[str, Run], labels: Mapping[str, str], focus: str, t_s: float, view: Mapping[str, Any]
) -> FrameView:
    """Panels for the focused run, and a sentence for each run at the same time."""
    run, moment = runs[focus], moment_of(runs[focus], t_s)
    label = inner(labels[focus])
    return FrameView(
        run=focus,
        label=label,
        t=f"{t_s:.6f}".rstrip("0").rstrip("."),
        clock=f"t = {t_s:.3f} s · {label}" + (f", step {moment.step}" if moment.step >= 0 else ""),
        why=tuple(_sentence(runs[name], labels[name], moment_of(runs[name], t_s)) for name in _order(runs, focus)),
        links=step_links(runs, focus, moment, view),
        **(_panels(run, moment.step) if moment.is_running else {}),
    )


def _panels(run: Run, step: int) -> dict[str, Any]:
    frame, usable, config = run.frame(step), run.plan.usable_blocks, run.config_at(step)
    owners, waiting = owners_of(frame), _waiting(run, step)
    return {
        "summary": f"{len(frame.running) + len(frame.held)} of {config.max_num_seqs} slots in use",
        "slots": _slots(run, frame, owners),
        "blocks": memory_slices(frame, owners, usable),
        "blocks_caption": memory_caption(frame, owners, usable, config.block_size, config.region_blocks),
        "waiting": waiting[:MOST_WAITING],
        "waiting_title": f"{len(waiting):,} waiting" if waiting else "nobody waits",
        "waiting_more": f"and {len(waiting) - MOST_WAITING:,} more behind them" if len(waiting) > MOST_WAITING else "",
        "budget": budget_slices(run, frame),
        "budget_title": budget_title(run, step),
        "budget_caption": budget_caption(run, frame),
        "parts": time_parts(run, step),
        "parts_title": time_title(run, step),
        "is_timed": run.scenario.server.cost != "unit",
        "parts_caption": bound_sentence(run, step),
    }


def step_links(runs: Mapping[str, Run], focus: str, moment: Moment, view: Mapping[str, Any]) -> StepLinks:
    """Where the step buttons lead; `view` is what else of the page they keep."""
    scenarios = {name: run.scenario for name, run in runs.items()}
    run = None if focus == "a" else focus
    times = boundaries(runs[focus], moment)
    return StepLinks(
        **{
            name: "" if t is None else write_query(scenarios, t=round(t, 6), run=run, **view)
            for name, t in times.items()
        }
    )


def _order(runs: Mapping[str, Run], focus: str) -> list[str]:
    return [focus, *(name for name in runs if name != focus)]


def _sentence(run: Run, label: str, moment: Moment) -> Sentence:
    if moment.is_running:
        return Sentence(label, f"step {moment.step}", explain(run, moment.step))
    if moment.is_over:
        return Sentence(label, "", "Every request is done.")
    next_s = float(run.steps["start_s"][moment.step + 1]) if moment.step + 1 < len(run.steps) else None
    rest = f" until {next_s:.3f} s" if next_s is not None else ""
    return Sentence(label, "", f"The server is idle: no request is there{rest}.")


def _slots(run: Run, frame: Frame, owners: Counter[int]) -> tuple[SlotRow, ...]:
    rows = {row.slot: _slot_row(run, row, owners) for row in (*frame.running, *frame.done)}
    count = min(max(run.config_at(frame.step).max_num_seqs, *(slot + 1 for slot in rows), 0), MOST_SLOTS)
    return tuple(rows.get(slot, SlotRow(slot)) for slot in range(count))


def _slot_row(run: Run, row: Row, owners: Counter[int]) -> SlotRow:
    is_held = row.phase == "held"
    return SlotRow(
        row.slot,
        row.request,
        "done, held" if is_held else row.phase,
        tokens="" if is_held else _progress(run, row),
        step_tokens="" if is_held else f"{row.scheduled:,}",
        blocks=table_text(row.blocks, owners),
        series=series(row.request),
    )


def _progress(run: Run, row: Row) -> str:
    if row.phase == "prefill":
        return f"{row.computed:,} of {row.prompt + row.outputs:,} prompt"
    return f"{row.outputs:,} of {int(run.requests.output_tokens[row.request]):,} output"


def _waiting(run: Run, step: int) -> tuple[WaitRow, ...]:
    now_s, arrivals = float(run.steps["start_s"][step]), run.results["arrival_s"]
    rows, before = [], ""
    for request, reason in explain_waiting(run, step):
        since = duration_text(now_s - float(arrivals[request]))
        rows.append(WaitRow(request, series(request), since, reason, is_repeated=reason == before))
        before = reason
    return tuple(rows)
