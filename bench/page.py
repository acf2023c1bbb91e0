"""Times the pages in headless Chromium: slider to painted picture, bytes of a move, frames a second; prints JSON.

An input event to the second animation frame after the canvas was drawn (Performance marks of static/js/lab.js);
compressed bytes as transferSize, before Plotly is asked for and in all; frames as the median of ten one-second
counts, while 64 slots and 4,096 blocks play beside two charts, and while the seek slider sweeps over a run of more
than 100,000 steps; memory of that page as performance.memory after a forced collection. Of the tour: bytes before
Plotly, largest contentful paint, layout shifts down to its end, and, with 150 ms of round trip, the time from an
input on the sliders of its formulas to the second frame after it and the size of what the chart lags behind.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-precise-memory-info",
)
MOVES = 50
SECONDS = 10
DENSE = (
    "rate=40&num_requests=500&max_num_seqs=64&num_gpu_blocks=4097&max_num_batched_tokens=2048"
    "&prompt_tokens=300&output_tokens=150&b.batching=static&views=timeline,kv-map,queue,step,course,latency"
)
LONG = "rate=6&num_requests=5000&max_num_seqs=64"
MOVE = """(slider, position) => new Promise((resolve) => {
  new PerformanceObserver((list, observer) => { observer.disconnect(); resolve(list.getEntries()[0].duration) })
    .observe({ entryTypes: ["measure"] });
  slider.value = position;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
})"""
BYTES = """() => performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/api/v1/steps"))
  .map((entry) => entry.transferSize)"""
COUNT_FRAMES = """(seconds) => new Promise((resolve) => {
  const counts = [];
  let begin = performance.now(), frames = 0;
  const tick = (now) => {
    frames++;
    if (now - begin >= 1000) { counts.push(frames * 1000 / (now - begin)); begin = now; frames = 0; }
    if (counts.length < seconds) requestAnimationFrame(tick); else resolve(counts);
  };
  requestAnimationFrame(tick);
})"""
SWEEP = """() => {
  const slider = document.getElementById("seek");
  let at = 0;
  const tick = () => {
    at = (at + 7) % Number(slider.max);
    slider.value = at;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    window.sweeping = requestAnimationFrame(tick);
  };
  tick();
}"""


SIZES = """() => {
  const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const charts = entries.find((entry) => entry.name.includes("plotly"))?.startTime ?? Infinity;
  return entries.map((entry) => [entry.startTime >= charts, entry.transferSize]);
}"""
LCP = """() => new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
  .observe({ type: "largest-contentful-paint", buffered: true }))"""
ROUND_TRIP_MS = 150
SHIFTS = """() => new Promise((resolve) => {
  let total = 0;
  const add = (list) => { for (const each of list.getEntries()) if (!each.hadRecentInput) total += each.value; };
  new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(total), 500);
})"""
FOLLOW = """(slider) => new Promise((resolve) => {
  const card = slider.closest("[data-figure]");
  const box = card.querySelector(".chart-box");
  const begin = performance.now();
  const times = {};
  const done = (name) => requestAnimationFrame(() => requestAnimationFrame(() => {
    times[name] ??= performance.now() - begin;
    if (times.words && times.chart) resolve(times);
  }));
  const words = new MutationObserver(() => done("words"));
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  words.observe(card.querySelector(".formulas"), all);
  const chart = new MutationObserver(() => done("chart"));
  chart.observe(box, all);
  setTimeout(() => resolve({ words: times.words ?? 9999, chart: times.chart ?? 9999 }), 2000);
  slider.value = Number(slider.value) + 1;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
})"""


def main() -> None:
    with _server() as url, sync_playwright() as playwright:
        path = playwright.chromium.executable_path
        browser = playwright.chromium.launch(
            args=[*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])],
            executable_path=path if Path(path).exists() else shutil.which("chromium") or shutil.which("google-chrome"),
        )
        result = _first_page(browser, url) | _moves(browser, url) | _frames(browser, url) | _scrubbing(browser, url)
        result |= {"tour": _tour(browser, url)}
        browser.close()
    print(json.dumps(result, indent=2))


def _open(browser: Browser, address: str, height: int = 1000) -> Page:
    page = browser.new_page(viewport={"width": 1440, "height": height})
    page.goto(address)
    page.wait_for_function("() => document.querySelector('.chart-box')?.dataset.drawn")
    page.wait_for_load_state("networkidle")
    return page


def _first_page(browser: Browser, url: str) -> dict[str, Any]:
    page = _open(browser, f"{url}/lab/?t=4.2")
    sizes, lcp = page.evaluate(SIZES), page.evaluate(LCP)
    page.close()
    return {
        "first_page_bytes_before_plotly": sum(size for is_later, size in sizes if not is_later),
        "first_page_bytes": sum(size for _, size in sizes),
        "lcp_ms": round(lcp),
    }


def _tour(browser: Browser, url: str) -> dict[str, Any]:
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    page.goto(f"{url}/")
    page.wait_for_load_state("networkidle")
    lcp = page.evaluate(LCP)
    loaded = page.evaluate(SIZES)
    page.evaluate("() => scrollTo({ top: document.body.scrollHeight, behavior: 'smooth' })")
    page.wait_for_timeout(4000)
    page.wait_for_load_state("networkidle")
    shift = page.evaluate(SHIFTS)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    conditions = {"offline": False, "latency": ROUND_TRIP_MS, "downloadThroughput": -1, "uploadThroughput": -1}
    session.send("Network.emulateNetworkConditions", conditions)
    sliders = page.locator('[data-figure="batch-curve"] input[type=range]')
    sliders.first.scroll_into_view_if_needed()
    page.wait_for_timeout(1500)
    times = [sliders.nth(i % sliders.count()).evaluate(FOLLOW) for i in range(20)]
    page.close()
    return {
        "bytes_before_plotly": sum(size for is_later, size in loaded if not is_later),
        "lcp_ms": round(lcp),
        "layout_shift": round(shift, 4),
        **{
            f"drag_to_{name}_ms": {
                "p50": round(statistics.median(time[name] for time in times)),
                "max": round(max(time[name] for time in times)),
            }
            for name in ("words", "chart")
        },
    }


def _moves(browser: Browser, url: str) -> dict[str, Any]:
    page = _open(browser, f"{url}/lab/?t=4.2")
    page.evaluate("() => performance.clearResourceTimings()")
    slider = page.locator('#controls input[type=range][data-for="rate"]')
    times = []
    for i in range(MOVES):
        times.append(float(slider.evaluate(MOVE, 480 + 4 * i)))
        page.wait_for_timeout(60)
    sizes = page.evaluate(BYTES)
    runs = page.locator("[data-lane]").count()
    moves = [sum(sizes[i : i + runs]) for i in range(0, len(sizes), runs)]
    page.close()
    return {
        "slider_to_painted_ms": {
            "p50": round(statistics.median(times), 1),
            "p95": round(statistics.quantiles(times, n=20)[-1], 1),
            "max": round(max(times), 1),
            "moves": len(times),
        },
        "bytes_per_move": {"median": statistics.median(moves), "max": max(moves)},
    }


def _frames(browser: Browser, url: str) -> dict[str, Any]:
    page = _open(browser, f"{url}/lab/?{DENSE}&t=2", height=2600)  # so that both charts are in sight
    page.wait_for_function("() => document.querySelectorAll('.chart-box[data-drawn]').length === 2")
    page.locator("#speed").select_option("0.3")
    page.locator("#play").click()
    page.wait_for_timeout(500)
    counts = page.evaluate(COUNT_FRAMES, SECONDS)
    is_playing = page.locator("#play").inner_text() == "Pause"
    page.close()
    return {
        "playback_fps": {
            "median": round(statistics.median(counts), 1),
            "min": round(min(counts), 1),
            "played": is_playing,
        }
    }


def _scrubbing(browser: Browser, url: str) -> dict[str, Any]:
    page = _open(browser, f"{url}/lab/?{LONG}&t=1")
    steps = page.evaluate("() => fetch('../api/v1/run?' + location.search.slice(1)).then((r) => r.json())")
    page.evaluate(SWEEP)
    counts = page.evaluate(COUNT_FRAMES, SECONDS)
    page.evaluate("() => cancelAnimationFrame(window.sweeping)")
    page.wait_for_load_state("networkidle")
    page.context.new_cdp_session(page).send("HeapProfiler.collectGarbage")
    heap = page.evaluate("() => performance.memory.usedJSHeapSize")
    page.close()
    return {
        "scrubbing_fps": {
            "median": round(statistics.median(counts), 1),
            "min": round(min(counts), 1),
            "steps": steps["metrics"]["steps"],
        },
        "scrubbing_heap_bytes": heap,
    }


@contextmanager
def _server() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "app.main:app", "--port", str(port), "--log-level", "warning"]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            yield _ready(f"http://127.0.0.1:{port}")
        finally:
            process.terminate()


def _ready(url: str) -> str:
    end = time.monotonic() + 60
    while True:
        try:
            # The page itself, so that the engine is loaded (and compiled, if it has just been changed).
            with urllib.request.urlopen(f"{url}/lab/", timeout=300):
                return url
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


if __name__ == "__main__":
    main()
