"""The block map as a picture: its cells say what the frame says of each block."""

from collections import Counter

import numpy as np
import pytest

from app.pictures.kv_map import CACHED, FREE, HELD, KEPT, OWN, RESERVED, SHARED, cells_of, layout_of, shown_blocks
from sim.run import Run, simulate
from sim.scenario import scenario_from

POOL = {"rate": 8, "num_requests": 30, "max_num_seqs": 6, "num_gpu_blocks": 200, "max_model_len": 2048}
CASES = (
    POOL,
    POOL | {"shared_prefix_tokens": 256},
    POOL | {"batching": "static", "num_gpu_blocks": 600},
    POOL | {"kv": "contiguous", "num_gpu_blocks": 513},
    POOL | {"prefix_cache": "per_slot", "session": "chat"},
)


def cells_at(run: Run, step: int):
    config = run.setting.config
    is_contiguous = config.region_blocks > 0
    return cells_of(run.pool(step), run.plan.usable_blocks, config.block_size, is_contiguous=is_contiguous)


@pytest.mark.parametrize("settings", CASES, ids=str)
def test_cells_agree_with_the_frame(settings: dict[str, object]) -> None:
    run = simulate(scenario_from(settings))
    for step in np.linspace(0, len(run.steps) - 1, 12).astype(int).tolist():
        frame, cells = run.frame(step), cells_at(run, step)
        users = Counter(block for row in (*frame.running, *frame.done) for block in row.blocks)
        kinds = Counter(cells.kind[1:].tolist())
        assert kinds[FREE] + kinds[CACHED] == frame.free_blocks, step
        assert kinds[CACHED] == frame.cached_blocks
        assert kinds[KEPT] == frame.kept_blocks
        assert kinds[SHARED] == sum(count > 1 for count in users.values())
        assert kinds[OWN] + kinds[HELD] + kinds[RESERVED] == sum(count == 1 for count in users.values())
        for row in frame.running:
            own = [block for block in row.blocks if users[block] == 1]
            assert set(cells.owner[own].tolist()) <= {row.request}
            if row.blocks == own:
                assert cells.tokens[own].sum() == row.computed + row.scheduled


def test_every_kind_of_cell_occurs() -> None:
    seen: set[int] = set()
    for settings in CASES:
        run = simulate(scenario_from(settings))
        for step in range(0, len(run.steps), 40):
            seen |= set(cells_at(run, step).kind.tolist())
    assert seen == {FREE, CACHED, OWN, HELD, SHARED, KEPT, RESERVED}


@pytest.mark.parametrize(("blocks", "per"), [(384, 1), (16_384, 1), (16_385, 2), (28_802, 2), (100_000, 7)])
def test_a_cell_stands_for_more_blocks_beyond_the_limit(blocks: int, per: int) -> None:
    layout = layout_of(blocks, 900, 220)
    assert layout.per == per
    assert (layout.count - 1) * per < blocks <= layout.count * per
    assert layout.rows * layout.columns >= layout.count


def test_a_cell_of_many_blocks_shows_the_first_in_use() -> None:
    cells = cells_of(None, 40_000, 16, is_contiguous=False)
    layout = layout_of(40_000, 900, 220)
    cells.kind[[5, 6, 100]] = OWN, OWN, CACHED
    shown = shown_blocks(cells, layout)
    assert shown[:3].tolist() == [1, 5, 7]
    assert shown[(100 - 1) // 3] == 1 + 3 * ((100 - 1) // 3)
