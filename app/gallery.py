"""The table of figures: every view of a scenario that a page shows, each with a template and a module of its own.

A row here, `templates/figures/NAME.html` and `static/js/figures/NAME.js` are all there is to a figure: chips, the
`views` parameter and the page that shows it alone follow from the row.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One view of a scenario.

    Attributes
    ----------
    is_open : bool
        Shown by the lab unless the address says otherwise.
    in_frame : bool
        Told by the server for each step, inside the fragment that follows the playhead; the others draw themselves.
    is_timed : bool
        Follows the playhead, so that it needs a transport where it stands alone.
    height : int
        Height that suits it in a page of its own [px].
    """

    name: str
    title: str
    summary: str
    is_open: bool = False
    in_frame: bool = False
    is_timed: bool = True
    height: int = 420


FIGURES: tuple[Figure, ...] = (
    Figure("timeline", "Timeline", "Slots over time: a row is a slot, a bar is a request", is_open=True, height=520),
    Figure("kv-map", "KV blocks", "Every block of KV memory and whose it is", is_open=True, in_frame=True, height=560),
    Figure("block-table", "Block tables", "Which block of memory holds which tokens", height=480),
    Figure("queue", "Waiting line", "Who waits, since when and for what", is_open=True, in_frame=True),
    Figure("step", "This step", "Token budget, and where the step's time goes", is_open=True, in_frame=True),
    Figure("step-time", "Step by step", "What each step reads and computes"),
    Figure("memory", "GPU memory", "Weights, activations, KV: what fits and what is in use"),
    Figure("streams", "Streams", "One strip a user: the gaps between tokens"),
    Figure("speculation", "Speculation", "Tokens drafted, accepted and wasted"),
    Figure("wastes", "Five wastes", "What is wasted, and which technique removes it", is_timed=False, height=460),
    Figure("course", "Over time", "Slots, waiting line and KV memory over time", is_open=True),
    Figure("latency", "Latencies", "How TTFT, TPOT and ITL are distributed", is_timed=False),
    Figure("batch-curve", "Batch curve", "Step time and throughput against batch size", height=760),
    Figure("roofline", "Roofline", "What bounds a step: bandwidth or compute"),
    Figure("load-curve", "Load curve", "Latency, throughput and goodput against the load", is_timed=False, height=660),
    Figure("events", "Events", "What happened, step by step"),
)

FIGURE_BY_NAME = {figure.name: figure for figure in FIGURES}
OPEN_FIGURES = tuple(figure.name for figure in FIGURES if figure.is_open)
