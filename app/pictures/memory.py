"""GPU memory as a stacked bar: what the model takes, what is left for KV, and by how much a model does not fit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from app.names import names_of
from app.pictures.document import Drawing, Key, Picture
from app.pictures.setup import server_parts
from app.pictures.shapes import group, hatch, label, painted, rect, width_of, wrapped
from sim.catalog import GIB, find_gpu
from sim.memory import MemoryTerms, memory_terms
from sim.scenario import Scenario, Server

BAR, NAME, LIMITS, LINE = 44.0, 20.0, 20.0, 15.0
DOTS = (
    '<pattern id="dots" class="hue" width="5" height="5" patternUnits="userSpaceOnUse">'
    '<rect class="lane" width="5" height="5"/><circle class="hued" cx="2.5" cy="2.5" r="1.1"/></pattern>'
)
OVER = 'fill="url(#over)"'
PATTERNS = hatch("stripes", "hue") + hatch("over", "over") + DOTS


class Segment(NamedTuple):
    """A part of the memory of one GPU; `paint` are the attributes it is filled by."""

    name: str
    size_bytes: int
    paint: str
    ink: str = ""


def segments_of(terms: MemoryTerms) -> tuple[Segment, ...]:
    """Parts in the order of the bar. Together they are what software sees of the GPU, or more if it does not fit."""
    taken = terms.weights_bytes + terms.activation_bytes + terms.other_bytes + terms.kv_bytes
    return (
        Segment("weights", terms.weights_bytes, 'class="part"', "card"),
        Segment("activations", terms.activation_bytes, 'fill="url(#stripes)"'),
        Segment("other", terms.other_bytes, 'fill="url(#dots)"'),
        Segment("KV", terms.kv_bytes, 'class="accent"', "card"),
        Segment("unused", max(terms.visible_bytes - taken, 0), 'class="idle"'),
    )


def over_bytes(terms: MemoryTerms) -> int:
    """By how much the parts exceed what the server may use; a pool that was asked for counts as it is."""
    taken = sum(segment.size_bytes for segment in segments_of(terms)[:-1])
    return max(terms.missing_bytes, taken - terms.gpu_bytes, 0)


def memory_picture(scenarios: Mapping[str, Scenario]) -> Picture:
    """A bar for each scenario whose memory differs from those before it."""
    names, servers = names_of(scenarios), _differing(scenarios)
    bars = [(names[name].label if len(servers) > 1 else "", server) for name, server in servers.items()]
    first = servers["a"]
    is_over = any(over_bytes(memory_terms(server)) for server in servers.values())
    too_much = (Key(painted(OVER, 0, 0, 12, 12), "too much"),) if is_over else ()
    return Picture(
        title="GPU memory",
        subtitle=_hardware(first) if len({_hardware(server) for server in servers.values()}) == 1 else "",
        description=" ".join(_told(name, server) for name, server in bars),
        draw=partial(_draw, bars),
        definitions=PATTERNS,
        legend=(*(Key(painted(s.paint, 0, 0, 12, 12), s.name) for s in segments_of(memory_terms(first))), *too_much),
        caption=[*server_parts(first), f"gpu_memory_utilization {first.gpu_memory_utilization:g}"],
        is_timed=False,
    )


def _differing(scenarios: Mapping[str, Scenario]) -> dict[str, Server]:
    seen: list[MemoryTerms] = []
    differing = {}
    for name, scenario in scenarios.items():
        terms = memory_terms(scenario.server)
        if terms not in seen:
            seen.append(terms)
            differing[name] = scenario.server
    return differing


def _hardware(server: Server) -> str:
    gpu = find_gpu(server.gpu)
    count = server.tensor_parallel_size
    return f"each of {count} × {gpu.name}" if count > 1 else gpu.name


def _parts(server: Server) -> list[str]:
    """All numbers of a bar."""
    terms = memory_terms(server)
    parts = [f"{segment.name} {_gib(segment.size_bytes)} GiB" for segment in segments_of(terms)]
    blocks = terms.kv_bytes // terms.block_bytes
    parts.insert(4, f"{blocks:,} blocks of {server.block_size} tokens" if blocks else "no room for KV blocks")
    return parts


def _verdict(terms: MemoryTerms) -> str:
    over = over_bytes(terms)
    if terms.missing_bytes:
        return f"does not fit: {_gib(over)} GiB too much"
    return f"{_gib(over)} GiB more than the server may use" if over else ""


def _told(name: str, server: Server) -> str:
    verdict = _verdict(memory_terms(server))
    return f"{name + ': ' if name else ''}{', '.join(_parts(server))}{f'; {verdict}' if verdict else ''}."


def _draw(bars: list[tuple[str, Server]], width: float, height: float | None) -> Drawing:
    whole = max(max(sum(s.size_bytes for s in segments_of(t)), t.visible_bytes) for _, t in _terms(bars))
    tall = BAR if height is None else max(14.0, (height / len(bars)) - NAME - LIMITS - LINE * 2)
    shapes, y = "", 0.0
    for name, server in bars:
        drawing = _bar(name, server, width, width / whole, tall)
        shapes += group(drawing.shapes, y=y)
        y += drawing.height
    return Drawing(shapes, y)


def _terms(bars: list[tuple[str, Server]]) -> list[tuple[str, MemoryTerms]]:
    return [(name, memory_terms(server)) for name, server in bars]


def _bar(name: str, server: Server, width: float, scale: float, tall: float) -> Drawing:
    terms = memory_terms(server)
    verdict = _verdict(terms)
    shapes = label("ink strong", 0, 12, name) + label("bad strong num", width, 12, verdict)
    top = NAME if name or verdict else 4.0
    shapes += group(_stack(terms, scale, tall), y=top)
    shapes += group(_limits(terms, scale, width, tall), y=top)
    lines = wrapped(_parts(server), width)
    y = top + tall + LIMITS
    shapes += "".join(label("muted", 0, y + 12 + i * LINE, line) for i, line in enumerate(lines))
    return Drawing(shapes, y + LINE * len(lines) + 12)


def _stack(terms: MemoryTerms, scale: float, tall: float) -> str:
    may, shapes, x = terms.gpu_bytes * scale, "", 0.0
    for segment in segments_of(terms):
        wide = segment.size_bytes * scale
        text = f"{segment.name} {_gib(segment.size_bytes)} GiB"
        if wide:
            shapes += painted(segment.paint, x, 0, max(wide - 1, 0.5), tall)
        if segment.ink and width_of(text, is_bold=True) + 12 < min(wide, may - x):
            shapes += label(f"strong {segment.ink}", x + 8, tall / 2 + 4, text)
        x += wide
    over = over_bytes(terms) * scale
    return shapes + (painted(OVER, may, 0, over, tall) if over else "")


def _limits(terms: MemoryTerms, scale: float, width: float, tall: float) -> str:
    """Marks at what the server may use and at the edge of the GPU."""
    may, edge = terms.gpu_bytes * scale, terms.visible_bytes * scale
    text = f"server may use {_gib(terms.gpu_bytes)} of {_gib(terms.visible_bytes)} GiB"
    line = rect("ink", may - 1, -4, 2, tall + 8) + rect("ink", edge - 1, -4, 1, tall + 8)
    half = width_of(text) / 2
    return line + label("ink", min(max(may - half, 0), width - 2 * half), tall + 16, text)


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / GIB:.1f}"
