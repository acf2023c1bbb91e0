"""KV memory of a frame in words: tables, and what of the blocks in use is not used."""

from collections import Counter

import pytest

from app.blocks import memory_caption, owners_of, table_text, tenths
from sim.run import Run, simulate
from sim.scenario import scenario_from

TIGHT = {"num_requests": 12, "load": "burst", "prompt_dist": "fixed", "output_dist": "fixed", "num_gpu_blocks": 129}


def make_run(**settings: object) -> Run:
    return simulate(scenario_from(TIGHT | {"prompt_tokens": 100, "output_tokens": 40, "max_num_seqs": 4} | settings))


def caption(run: Run, step: int) -> str:
    frame, config = run.frame(step), run.setting.config
    return memory_caption(frame, owners_of(frame), run.plan.usable_blocks, config.block_size, config.region_blocks)


def test_table_says_where_each_logical_block_lies_and_who_shares_it():
    owners = Counter({7: 3, 8: 3, 9: 1, 4: 1, 5: 1})
    assert table_text([7, 8, 9, 4, 5], owners) == "0–1→7–8×3 2→9 3–4→4–5"
    assert table_text([], owners) == ""


def test_runs_are_joined_up_and_down():
    owners = Counter(range(20))
    assert table_text([9, 8, 7, 8, 9, 3], owners) == "0–2→9–7 3–4→8–9 5→3"


def test_long_table_is_cut_off():
    text = table_text(list(range(100, 0, -2)), Counter(range(101)))
    assert text.count("→") == 40
    assert text.endswith("39→22 …")


@pytest.mark.parametrize(
    ("part", "whole", "text"), [(1, 3, "0.3"), (49, 4, "12.3"), (20_000, 1, "20,000.0"), (0, 0, "0.0")]
)
def test_tenths_are_rounded_half_up(part: int, whole: int, text: str):
    assert tenths(part, whole) == text


def test_paged_waste_lies_in_last_blocks():
    # 4 requests of 100 + 5 tokens: 7 blocks of 16 each hold 112.
    text = caption(make_run(prefix_cache="off"), 5)
    assert text.startswith("28 of 128 blocks in use · 16 tokens each.")
    assert text.endswith("Reserved but unused: 28 tokens (6.3\N{NO-BREAK SPACE}%), all in last blocks.")


def test_contiguous_fragmentation_is_counted_inside_and_outside():
    # Three regions of 38 blocks in 128: 14 blocks are left over; each holds 105 tokens of 608.
    text = caption(make_run(kv="contiguous", max_model_len=608), 5)
    assert text.startswith("114 of 128 blocks in use")
    assert "Internal fragmentation: 1,509 of 1,824 reserved tokens unused (82.7\N{NO-BREAK SPACE}%)." in text
    assert "External: 14 free blocks in which no reservation of 38 fits." in text
    assert text.endswith("Paged, with the 7.0 blocks that each uses on average now, 15 more requests would fit.")


def test_held_rows_count_with_the_blocks_they_keep():
    padded = make_run(batching="static", output_list=",".join(["5", "40"] * 6))
    frame = padded.frame(20)
    assert len(frame.done) == 2
    assert all(row.phase == "held" and row.blocks for row in frame.done)
    dropped = make_run(batching="static", static_rows="dropped", output_list=",".join(["5", "40"] * 6))
    assert caption(dropped, 20).count("tokens (") == 1
    assert [row.blocks for row in dropped.frame(20).done] == [[], []]
