"""Batchscope's simulator: a run is a function of a Scenario and its seed."""

__version__ = "0.1.0"
