"""The cache by slot against texts written out token by token: which slot a request takes, and how much it reuses."""

from sim.engine.record import Kind
from sim.run import simulate
from sim.scenario import scenario_from
from tests.hunting import hunt
from tests.invariants.checks import events_of
from tests.oracle.texts import shared_texts, texts_of


def common(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def assert_slots_chosen_by_match_and_age(run):
    texts = texts_of(run.requests)
    slots = [{"kept": [], "seats": None, "left": 0} for _ in range(run.setting.config.num_seats)]
    hits = 0
    for position, (_, kind, request, a, b) in enumerate(events_of(run, Kind.ADMIT, Kind.FINISH)):
        if kind == Kind.FINISH:
            slot = next(slot for slot in slots if slot["seats"] == request)
            slot |= {"kept": texts[request][:a], "seats": None, "left": position}
            continue
        prompt = texts[request][: run.requests.prompt_tokens[request] - 1]
        matches = {i: common(slot["kept"], prompt) for i, slot in enumerate(slots) if slot["seats"] is None}
        chosen = min(matches, key=lambda i: (-matches[i], slots[i]["left"], i))
        assert (b, a) == (chosen, matches[chosen])
        slots[chosen] |= {"kept": [], "seats": request}
        hits += a
    return hits


def test_slot_is_the_one_with_the_longest_match_else_the_one_left_longest_ago(pytestconfig):
    hits = []

    def check(settings):
        hits.append(
            assert_slots_chosen_by_match_and_age(simulate(scenario_from(settings | {"prefix_cache": "per_slot"})))
        )

    hunt(pytestconfig, 150, check, shared_texts())

    assert sum(hit > 0 for hit in hits) > len(hits) / 3
