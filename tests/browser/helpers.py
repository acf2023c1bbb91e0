"""How the browser tests look at the lab and move its controls."""

from typing import Any

from playwright.sync_api import Page, expect

LAB = "/lab/?rate=3.9&num_requests=24&max_num_seqs=8&b.batching=static&t=1.5"
PLAIN = "/static/js/run.js"  # a page of the app where nothing else runs


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
    """Move the slider of a control, as a pointer does: an input event at the new place."""
    page.locator(f'#controls input[type=range][data-for="{name}"]').evaluate(
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
