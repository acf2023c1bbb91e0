"""The event list on the page: a page around the time shown, links that lead to their step, filters."""

import re
from functools import cache
from typing import Any

import pytest

from app.events import PAGE, event_page, events_view
from app.moment import moment_of
from app.params import parse_query, read_query
from sim.run import Run, simulate

QUERY = "rate=8&num_requests=40&prompt_tokens=400&output_tokens=300&max_num_seqs=12&num_gpu_blocks=385&b.kv=contiguous"


@cache
def runs_of(query: str) -> dict[str, Run]:
    return {name: simulate(each) for name, each in read_query(parse_query(query)).scenarios.items()}


def page_of(more: str, query: str = QUERY) -> Any:
    return event_page(runs_of(query), read_query(parse_query(f"{query}&{more}")))


@pytest.mark.parametrize("t", [0, 0.7, 5, 5.3, 1000])
def test_page_is_the_one_with_the_time_shown(t: float) -> None:
    page = page_of(f"t={t}")
    times = [row.us / 1e6 for row in page.rows]
    assert len(times) == min(PAGE, page.total - page.first + 1)
    assert page.first == 1 or times[0] <= t
    assert not page.later or times[-1] >= t


def test_link_leads_to_the_step_of_its_entry() -> None:
    run = runs_of(QUERY)["a"]
    for row in page_of("t=5&kind=preempted").rows:
        t = float(re.search(r"&t=([\d.]+)", row.query).group(1))  # type: ignore[union-attr]
        assert moment_of(run, t).step == row.step


def test_entries_of_the_step_shown_are_marked() -> None:
    rows = page_of("t=5&kind=preempted").rows
    assert not any(row.is_now for row in rows)
    there = [row for row in page_of(f"t={rows[3].us / 1e6}&kind=preempted").rows if row.is_now]
    assert rows[3].us in [row.us for row in there]


def test_neighbours_are_before_and_after_the_time_whatever_the_page() -> None:
    page = page_of("t=5&page=1")
    assert page.before.us < 5e6 < page.after.us
    assert page_of("t=0&request=1&kind=finished").before is None
    assert page_of("t=1000").after is None


def test_list_of_one_request_names_no_other() -> None:
    assert {row.request for row in page_of("request=7").rows} == {6}
    assert page_of("request=4000").rows == ()


def test_list_follows_the_run_in_focus() -> None:
    assert page_of("kind=preempted").total > page_of("kind=preempted&run=b").total == 0


def test_closed_list_has_its_filter_only() -> None:
    views = read_query(parse_query(QUERY + "&kind=first&request=3"))
    closed = events_view(runs_of(QUERY), views)
    assert (closed.page, closed.kind, closed.request) == (None, "first", "3")
    assert not {"kind", "request", "page"} & {name for name, _ in closed.hidden}
