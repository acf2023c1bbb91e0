"""TensorRT-LLM's schedulers, compiled: capacity scheduler, then micro-batch scheduler, over a pool of blocks.

Mirrors tensorrt_llm/_torch/pyexecutor/scheduler.py; the pool and the executor's loop behave as far as they are known.
"""
