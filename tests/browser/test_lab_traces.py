"""A trace file: uploaded, shown as an overview with a window, stepped through."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers import picture, query, step, wait_for_picture

pytestmark = pytest.mark.browser

AZURE = "/lab/?max_num_seqs=128&t=0"


def test_azure_trace_is_uploaded_and_stepped_through(page: Page, shared: Path) -> None:
    page.set_default_timeout(60_000)
    page.goto(AZURE)
    wait_for_picture(page)
    page.locator("#trace-file").set_input_files(shared / "traces" / "AzureLLMInferenceTrace_conv_2023.csv")
    expect(page).to_have_url(re.compile("trace=[0-9a-f]{64}"), timeout=60_000)
    expect(page.locator("#overview")).to_be_visible(timeout=60_000)
    wait_for_picture(page)
    times = []
    for _ in range(4):
        step(page, "forward")
        times.append(float(str(page.locator("#frame").get_attribute("data-t"))))
    assert times == sorted(set(times))


def test_window_of_a_long_run_moves(page: Page) -> None:
    page.goto("/lab/?rate=20&num_requests=2000&output_tokens=20&max_num_seqs=16&t=1")
    wait_for_picture(page)
    expect(page.locator("#overview")).to_be_visible()
    before = picture(page, "a")
    page.locator("#window-at").evaluate(
        "e => { e.value = 600; e.dispatchEvent(new Event('input', { bubbles: true })) }"
    )
    expect(page.locator("#window-text")).to_contain_text(re.compile(r"^[1-9]\d"))
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    assert picture(page, "a") != before
    assert query(page)["t"] == "1"
    page.locator('[data-lane="a"]').click(position={"x": 200, "y": 20})
    page.wait_for_timeout(400)
    assert float(query(page)["t"]) > 10


def test_bars_of_a_window_equal_those_of_the_whole_run(page: Page) -> None:
    page.goto("/lab/?rate=6&num_requests=40&max_num_seqs=8&b.batching=static&t=0")
    wait_for_picture(page)
    differing = page.evaluate(
        """async () => {
          const [{ RunReader }, { barsOf }, { readLines }] = await Promise.all(
            ["run.js", "bars.js", "lines.js"].map((name) => import(new URL(`../static/js/${name}`, location.href))));
          const read = async (query) => {
            const reader = new RunReader();
            await readLines(`../api/v1/steps?rate=6&num_requests=40&max_num_seqs=8&blocks=0&${query}`,
              new AbortController().signal, (line) => reader.push(line));
            return reader.finish();
          };
          const differing = [];
          for (const batching of ["static", "continuous"]) {
            const whole = await read(`batching=${batching}`);
            const part = await read(`batching=${batching}&from=300&count=200`);
            const [from, to] = [part.start_us[0], part.end_us[part.count - 1]];
            if (from !== whole.start_us[300] || to !== whole.end_us[499]) differing.push([from, whole.start_us[300]]);
            const key = (bar) => [bar.request, bar.slot, bar.start, Math.min(bar.decode, to), Math.min(bar.end, to),
              Math.min(bar.free, to)].join();
            const seen = barsOf(whole).filter((bar) => bar.free > from && bar.start < to).map(key).sort();
            const own = barsOf(part).map(key).sort();
            if (seen.join("\\n") !== own.join("\\n")) differing.push(batching, seen, own);
          }
          return differing;
        }"""
    )
    assert differing == []


def test_file_that_is_no_trace_is_refused_with_a_reason(page: Page, tmp_path: Path, complaints: list[str]) -> None:
    page.goto("/lab/?max_num_seqs=8&t=0")
    wait_for_picture(page)
    nonsense = tmp_path / "notes.csv"
    nonsense.write_text("this is\nnot a trace\n")
    page.locator("#trace-file").set_input_files(nonsense)
    expect(page.locator("#notice")).to_contain_text("notes.csv")
    expect(page.locator("#notice")).not_to_contain_text("Reading")
    complaints.clear()


def test_server_that_lost_a_trace_gets_it_again(page: Page, complaints: list[str]) -> None:
    unknown = "0" * 64
    page.goto(f"/lab/?load=trace&trace={unknown}")
    expect(page.locator("h1")).to_contain_text("does not have the trace")
    expect(page.locator("#notice")).to_contain_text("choose it")
    complaints.clear()


def test_what_was_read_of_a_file_is_said(page: Page, tmp_path: Path) -> None:
    page.goto("/lab/?max_num_seqs=4&b.batching=static&t=0")
    wait_for_picture(page)
    mine = tmp_path / "mine.csv"
    mine.write_text("arrival_s,prompt_tokens,output_tokens\n0,100,20\n1,0,20\n2,200,30\n")
    page.locator("#trace-file").set_input_files(mine)
    expect(page.locator("#notice")).to_contain_text("mine.csv: 2 requests over 2 s")
    expect(page.locator("#notice")).to_contain_text("1 line could not be used (line 3")
