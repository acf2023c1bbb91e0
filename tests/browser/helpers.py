"""How the browser tests look at the lab and move its controls."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from sim.engine.record import Kind
from sim.run import Run

LAB = "/lab/?rate=3.9&num_requests=24&max_num_seqs=8&b.batching=static&t=1.5"
BARE = f"{LAB}&views=timeline,kv-map,queue,step"  # without charts, which take longest to load
PLAIN = "/static/js/run.js"  # a page of the app where nothing else runs
RUN_OF_BLOCKS = re.compile(r"(\d+)(?:–(\d+))?(?:→| to )(\d+)(?:–(\d+))?(?:(?:×| shared by )(\d+))?")


def wait_for_picture(page: Page) -> None:
    """Wait until the runs are here and the frame has followed."""
    expect(page.locator("#scene")).not_to_be_empty()
    page.wait_for_load_state("networkidle")


def step(page: Page, name: str) -> None:
    """Use a step button and wait for the frame it leads to."""
    frame = page.locator("#frame")
    before = str(frame.get_attribute("data-t"))
    page.locator(f"[data-step={name}]").click()
    expect(frame).not_to_have_attribute("data-t", before)
    page.wait_for_load_state("networkidle")


def drag(page: Page, name: str, position: int) -> None:
    """Move the slider of a control, or of the editor of runs, as a pointer does: an input event at the new place."""
    form = "#compare" if "." in name else "#controls"
    page.locator(f'{form} input[type=range][data-for="{name}"]').evaluate(
        """(slider, position) => {
          slider.value = position;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        position,
    )


def picture(page: Page, run: str) -> str:
    """What a run's canvas shows, as a string that differs when the picture does."""
    data: str = page.locator(f'[data-lane="{run}"] canvas').evaluate("canvas => canvas.toDataURL()")
    return data


def figures(page: Page) -> list[str]:
    return page.locator("[data-value]").all_inner_texts()


def query(page: Page) -> dict[str, Any]:
    return dict(page.evaluate("() => [...new URLSearchParams(location.search)]"))


def gib(size_bytes: float) -> str:
    """A size as the memory bar writes it."""
    return f"{size_bytes / 2**30:.{2 if size_bytes < 10 * 2**30 else 1}f} GiB"


def total(run: Run, kind: Kind, first: int, last: int) -> int:
    """Sum of `a` over the events of a kind in steps `first` up to and with `last`."""
    ends = run.steps["events_end"]
    events = run.events[int(ends[first - 1]) if first else 0 : int(ends[last])]
    return int(events["a"][events["kind"] == kind].sum())


def table_in(text: str) -> list[tuple[int, int]]:
    """Block and number of its users, logical block by logical block, as a written block table has them."""
    table: list[tuple[int, int]] = []
    for found in RUN_OF_BLOCKS.findall(text):
        first, last, block, end = int(found[0]), int(found[1] or found[0]), int(found[2]), int(found[3] or found[2])
        assert (first, abs(end - block)) == (len(table), last - first)
        way = 1 if end >= block else -1
        table += [(each, int(found[4] or 1)) for each in range(block, end + way, way)]
    return table
