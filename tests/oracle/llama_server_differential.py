"""Run one scenario of llama-server through the oracle and through the engine and name the first difference."""

import numpy as np

from sim.conformance.llama_server import UNIT_COST, told_result
from sim.conformance.llama_server_steps import Replay
from sim.engine.layout import as_array
from sim.engine.llama_server.layout import SEQUENCE, Config
from sim.engine.llama_server.recorder import GROWTH, Recorder
from sim.engine.llama_server.setup import Tasks, make_state
from sim.engine.loop import Stop
from tests.oracle.llama_server_oracle import Sim

MOST_STEPS = 20_000
SPARE = 50_000


class SoundSim(Sim):
    """The oracle without the real server's defect: a busy slot is left alone."""

    def ram_save(self, slot):
        if slot.state == "idle":
            super().ram_save(slot)

    def ram_load(self, slot, new):
        if slot.state == "idle":
            super().ram_load(slot, new)


class Driver:
    """Drives the oracle by a clock that runs on to the next arrival when the server is idle."""

    def __init__(self, scenario):
        rows = scenario["requests"]
        kind = Sim if scenario["imitates_defect"] else SoundSim
        self.sim = kind(scenario["config"], [r["prompt"] for r in rows], [r["outputs"] for r in rows], rows)
        self.due = sorted((r["arrival"], i) for i, r in enumerate(rows))
        self.cancels = sorted((r["cancel"], i) for i, r in enumerate(rows) if "cancel" in r)
        self.idle_steps = 0
        self.is_stuck = False

    @property
    def now(self):
        return len(self.sim.steps) + self.idle_steps

    def is_idle(self):
        return all(slot.state == "idle" for slot in self.sim.slots)

    def run(self):
        while not self.is_stuck:
            self.take_tasks()
            if not self.is_idle():
                self.update()
            elif self.due:
                self.idle_steps += self.due[0][0] - self.now
            else:
                return self.sim
        return self.sim

    def spins(self):
        """Say whether the oracle comes to a point where busy slots have nothing to decode."""
        try:
            self.run()
        except IndexError:
            return False
        return self.is_stuck

    def take_tasks(self):
        while self.due and self.due[0][0] <= self.now:
            self.sim.queue.append(self.due.pop(0)[1])
        self.handle()
        while self.cancels and self.cancels[0][0] <= self.now:
            self.cancel(self.cancels.pop(0)[1])
            self.handle()

    def handle(self):
        while self.sim.queue:
            self.sim.handle(self.sim.queue.pop(0))

    def cancel(self, request):
        if request in self.sim.deferred:
            self.sim.deferred.remove(request)
        for slot in self.sim.slots:
            if slot.req == request:
                self.sim.release(slot)

    def update(self):
        before = len(self.sim.steps), self.sim.clock
        self.sim.update()
        self.is_stuck = before == (len(self.sim.steps), self.sim.clock)
        assert len(self.sim.steps) < MOST_STEPS, "the oracle does not come to an end"


def config_from(scenario):
    given = scenario["config"]
    return Config(
        n_slots=given["np"],
        n_ctx=given["n_ctx"],
        n_ctx_slot=given["n_ctx_slot"],
        n_batch=given["nb"],
        n_ubatch=given["ub"],
        kv_unified=int(given["unified"]),
        cache_ram_bytes=given["ram"],
        kv_bytes_per_token=given["bpt"],
        cache_idle_slots=int(given["cache_idle"]),
        cont_batching=int(given["cont"]),
        context_shift=int(given["shift"]),
        imitates_defect=int(scenario["imitates_defect"]),
        has_unit_steps=1,
        slot_prompt_similarity=float(given["sim"]),
    )


def tasks_from(scenario):
    rows = scenario["requests"]
    texts = [token for r in rows for token in r["prompt"] + r["outputs"]]
    return Tasks(
        arrival_s=np.array([float(r["arrival"]) for r in rows]),
        cancel_s=np.array([float(r.get("cancel", "nan")) for r in rows]),
        prompt_tokens=np.array([len(r["prompt"]) for r in rows], np.int32),
        n_predict=np.array([r["n_predict"] for r in rows], np.int32),
        texts=np.array(texts, np.int32),
        id_slot=np.array([r.get("id_slot", -1) for r in rows], np.int32),
        n_keep=np.array([r["n_keep"] for r in rows], np.int32),
        n_cache_reuse=np.array([scenario["config"]["reuse"] for _ in rows], np.int32),
        cache_prompt=np.array([r["cache_prompt"] for r in rows], np.bool_),
        after=np.full(len(rows), -1, np.int32),
        gap_s=np.zeros(len(rows)),
    )


def run_engine(scenario, sizes=None, growth=GROWTH):
    spare = SPARE if scenario["imitates_defect"] else 0
    recorder = Recorder(make_state(config_from(scenario), UNIT_COST, tasks_from(scenario), sizes, spare), growth)
    recorder.advance()
    return recorder


def expected_results(sim, count):
    told = {}
    for request in range(count):
        kind, *numbers = sim.result.get(request, ("none",))
        told[request] = numbers if kind == "ok" else kind
    return told


def engine_results(recorder):
    told = {}
    for request, row in enumerate(recorder.requests()):
        result = told_result(row)
        kinds = {4: "refused", 5: "overflow"}
        told[request] = kinds.get(int(row["status"]), "none")
        if not result["error"]:
            told[request] = [result[name] for name in ("slot", "cached", "evaluated", "predicted")]
    return told


def held_tokens(state):
    """What each slot holds, and the copies in host RAM."""
    slots, copies = len(state.slots), int(state.count.copies)
    tokens = np.asarray(state.tokens)
    rows = as_array(state.sequences, SEQUENCE, slots + 1 + copies)
    held = []
    for row in [*rows[:slots], *rows[slots + 1 :]]:
        head, tail = int(row["head_at"]), int(row["tail_at"])
        cut, length = min(int(row["head"]), int(row["length"])), int(row["length"])
        held.append([*tokens[head : head + cut].tolist(), *tokens[tail + cut : tail + length].tolist()])
    return held


def pairs(sim, scenario):
    """Everything compared: name, what the oracle says, what the engine says."""
    recorder = run_engine(scenario)
    replay = Replay(recorder.log(), tasks_from(scenario).prompt_tokens, scenario["config"]["np"])
    steps = list(replay.steps())
    for number, (step, ours) in enumerate(zip(sim.steps, steps, strict=False)):
        ubatches = [[sum(held.values()), {str(s): n for s, n in held.items()}] for held in step["ub"]]
        for name, value in {**step, "ub": ubatches}.items():
            yield f"step {number}, {name}", value, ours[name]
    yield "number of steps", len(sim.steps), len(steps)
    yield "results", expected_results(sim, len(scenario["requests"])), engine_results(recorder)
    launches = [[step, slot, request] for step, kind, slot, request, *_ in sim.log if kind == "launch"]
    yield "launches", launches, replay.launches
    yield "tokens held", [*(s.tokens for s in sim.slots), *sim.ram], held_tokens(recorder.state)
    yield "cells", sum(s.kv for s in sim.slots), int(recorder.state.count.cells)
    yield "stop", False, recorder.stop != Stop.DONE


def first_difference(scenario, sim):
    """First step and field in which the engine differs from a finished oracle, None if they agree in all."""
    for name, expected, ours in pairs(sim, scenario):
        if expected != ours:
            return f"{name}: oracle {expected}, engine {ours}"
    return None
