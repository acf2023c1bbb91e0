"""Accelerators and models, each entry with its source: two TOML tables and their loader."""

from sim.catalog.gpus import GIB, Gpu, find_gpu, load_gpus
from sim.catalog.models import Model, find_model, load_models

__all__ = ["GIB", "Gpu", "Model", "find_gpu", "find_model", "load_gpus", "load_models"]
