"""Block contents have the same number exactly if all tokens up to their end are the same."""

from hypothesis import strategies as st

from sim.engine.setup import content_ids
from sim.scenario import scenario_from
from sim.workload import make_requests
from tests.hunting import hunt
from tests.oracle.texts import shared_texts, texts_of


def test_equal_numbers_are_equal_beginnings(pytestconfig):
    shared = []

    def check(settings, block_size, longest):
        requests = make_requests(scenario_from(settings).workload)
        contents = content_ids(requests, block_size, longest)
        beginnings, blocks = {}, 0
        for text, offset in zip(texts_of(requests), contents.offsets.tolist(), strict=True):
            for j in range(min(len(text), longest) // block_size):
                blocks += 1
                beginning = tuple(text[: (j + 1) * block_size])
                assert beginnings.setdefault(int(contents.ids[offset + j]), beginning) == beginning
        assert len(set(beginnings.values())) == len(beginnings)
        shared.append(len(beginnings) < blocks)

    hunt(pytestconfig, 60, check, shared_texts(), st.sampled_from([1, 3, 16]), st.sampled_from([20, 2000]))

    assert sum(shared) > len(shared) / 2
