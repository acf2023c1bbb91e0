"""Reads what people run: commands, logs, benchmark results and traces, into parameters and figures."""

from sim.importers.read import read_paste
from sim.importers.reading import PasteKind, Reading

__all__ = ["PasteKind", "Reading", "read_paste"]
