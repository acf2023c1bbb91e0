"""The recorded traces of the real schedulers, packed: one trace a line."""

import gzip
import json
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@cache
def recorded_lines(engine, folder):
    """Text of each trace by its name."""
    lines = gzip.decompress((HERE / engine / f"{folder}.jsonl.gz").read_bytes()).decode().splitlines()
    return {json.loads(line[: line.index(",")] + "}")["name"]: line for line in lines}


def read_recorded(engine, folder, name):
    return json.loads(recorded_lines(engine, folder)[name])
