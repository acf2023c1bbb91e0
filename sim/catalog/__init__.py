"""Accelerators, models and recorded lengths, each entry with its source: TOML tables and their loaders."""

from sim.catalog.gpus import GIB, Gpu, find_gpu, load_gpus
from sim.catalog.lengths import LengthTable, load_lengths
from sim.catalog.models import Model, find_model, load_models

__all__ = ["GIB", "Gpu", "LengthTable", "Model", "find_gpu", "find_model", "load_gpus", "load_lengths", "load_models"]
