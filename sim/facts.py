"""What is known of a run before its first step."""

from __future__ import annotations

from typing import Any

from sim.catalog.efficiencies import CALIBRATED
from sim.memory import KvPlan
from sim.setting import Setting


def facts_of(plan: KvPlan, setting: Setting) -> dict[str, Any]:
    """What a server comes to: memory, limits, remarks; JSON-able."""
    config = setting.config
    return {
        "weights_bytes": plan.weights_bytes,
        "kv_bytes_per_token": plan.kv_bytes_per_token,
        "activation_bytes": plan.activation_bytes,
        "other_bytes": plan.other_bytes,
        "kv_bytes": plan.kv_bytes,
        "gpu_bytes": plan.gpu_bytes,
        "num_gpu_blocks": plan.num_gpu_blocks,
        "kv_tokens": plan.kv_tokens,
        "max_concurrency": plan.max_concurrency,
        "max_model_len": plan.max_model_len,
        "max_num_batched_tokens": plan.max_num_batched_tokens,
        "reserved_blocks": config.region_blocks,
        "num_seats": config.num_seats,
        "calibrated": CALIBRATED,
        "notes": [*plan.notes, *setting.notes, *_later_notes(setting)],
    }


def _later_notes(setting: Setting) -> list[str]:
    later = setting.later.notes if setting.later else ()
    return [f"after the fork: {note}" for note in later if note not in setting.notes]
