"""What must hold of any run, whatever its settings: asked of the engine's state while it runs, and of the record."""

import numpy as np

from sim.engine.layout import Cache
from sim.engine.record import Kind
from sim.frame import frame_of
from sim.integrity import check_integrity
from sim.run import FINISHED, PENDING, REFUSED, REJECTED, Session
from sim.scenario import scenario_from

MOST_STEPS = 100_000


def checked_run(settings, stride=1):
    """Run whose state is checked after every `stride` steps."""
    session = Session(scenario_from(settings))
    while not session.advance(max_steps=stride):
        check_state(session)
        assert len(session.log().steps) < MOST_STEPS, "the run does not come to an end"
    check_state(session)
    return session.run()


def check_state(session):
    """Check the state of a session under way; what a fork found under way may go on."""
    recorder, setting = session._recorder, session.setting
    check_integrity(recorder.state, before=None if recorder.turned_at is None else setting.config)


def new_replay(run):
    return run.new_replay()


def picture(replay):
    """All of a replay that can be seen."""
    lives = [replay.lives[i] for i in replay.running]
    seated = [(life.index, life.slot, life.computed, list(life.table)) for life in lives]
    free = replay.free
    return frame_of(replay), seated, dict(replay.kept), list(free.order), dict(free.users), set(free.cached)


def events_of(run, *kinds):
    """Events of these kinds as step, kind, request, a, b."""
    picked = np.flatnonzero(np.isin(run.events["kind"], kinds))
    steps = np.searchsorted(run.steps["events_end"], picked, side="right").tolist()
    rows = run.events[["kind", "request", "a", "b"]][picked].tolist()
    return [(step, *row) for step, row in zip(steps, rows, strict=True)]


def assert_served(run):
    """Everybody is served in full or turned away; each end is told once."""
    status, outputs = run.results["status"], run.requests.output_tokens
    assert not (status == PENDING).any()
    np.testing.assert_array_equal(run.results["outputs"], np.where(status == FINISHED, outputs, 0))
    finishes = events_of(run, Kind.FINISH)
    assert sorted(request for _, _, request, _, _ in finishes) == np.flatnonzero(status == FINISHED).tolist()
    assert all(b == outputs[request] for _, _, request, _, b in finishes)
    assert [r["request"] - 1 for r in run.rejected] == np.flatnonzero(np.isin(status, (REJECTED, REFUSED))).tolist()


def assert_first_come_first_served(run):
    """First admissions are in order of arrival, and nobody new is admitted while a preempted one waits."""
    arrival_s, admitted, preempted = run.results["arrival_s"], [], []
    for _, kind, request, _, _ in events_of(run, Kind.ADMIT, Kind.RESUME, Kind.PREEMPT, Kind.FINISH):
        if kind == Kind.PREEMPT:
            preempted.append(request)
        elif kind == Kind.ADMIT:
            assert not preempted, f"request {request} overtakes {preempted}"
            admitted.append(request)
        elif request in preempted:
            preempted.remove(request)
    assert admitted == sorted(admitted, key=lambda i: (arrival_s[i], i))


def setting_by_step(run, name):
    """Value of one of the engine's settings at each step."""
    return np.array([getattr(run.config_at(step), name) for step in range(len(run.steps))], int)


def most_drafts(run):
    return max(each.config.num_speculative_tokens for each in (run.setting, run.setting.later or run.setting))


def assert_limits(run):
    """Budget, slots and pool are never exceeded; time never falls; a step's parts are its time."""
    config, steps = run.setting.config, run.steps
    seated, tokens = steps["running"] + steps["held"], steps["prefill"] + steps["decode"]
    is_static = setting_by_step(run, "is_static") > 0
    # Who was seated when a fork took their slots away may stay, but nobody joins them.
    assert (seated <= np.maximum(setting_by_step(run, "num_seats"), np.concatenate([[0], seated])[:-1])).all()
    assert (is_static | (steps["held"] == 0)).all()
    assert (is_static | (tokens <= setting_by_step(run, "max_num_batched_tokens"))).all()
    assert (steps["free"] >= 0).all()
    assert (steps["free"] <= config.usable_blocks).all()
    assert (steps["duration_s"] >= 0).all()
    assert (steps["start_s"][1:] >= run.ends_s()[:-1]).all()
    parts = sum(steps[name].astype(float) for name in ("matmul_s", "attention_s", "comm_s", "host_s"))
    np.testing.assert_allclose(parts, steps["duration_s"], rtol=1e-5)


def assert_gaps_add_up(run):
    """The gaps between a request's tokens fill the time from its first to its last."""
    results = run.results[run.results["status"] == FINISHED]
    gap_s, counts = run.gaps()
    np.testing.assert_allclose(gap_s @ counts, (results["finish_s"] - results["first_s"]).sum(), rtol=1e-9, atol=1e-9)
    if most_drafts(run) == 0:
        assert counts.sum() == (results["outputs"] - 1).sum()


def assert_tokens_conserved(run):
    """Computed is what is known at the end but for the last token, less hits; preemption and drafts add to that."""
    results, prompts = run.results, run.requests.prompt_tokens
    computed = (run.steps["prefill"] + run.steps["decode"]).sum()
    needed = (prompts + results["outputs"] - 1 - results["hit_tokens"])[results["status"] == FINISHED].sum()
    drafts = most_drafts(run)
    if results["preemptions"].sum() == 0:
        assert computed >= needed if drafts else computed == needed


def assert_frames_equal_columns(run):
    """What the events say of a step is what its columns count."""
    replay = new_replay(run)
    chunks = {(step, request): (tokens, before) for step, _, request, tokens, before in events_of(run, Kind.CHUNK)}
    for s, row in enumerate(run.steps):
        replay.forward()
        frame, rows = frame_of(replay), replay.planned.rows
        counted = (len(frame.running), len(frame.held), len(frame.waiting), frame.free_blocks)
        assert counted == tuple(int(row[n]) for n in ("running", "held", "waiting", "free")), f"step {s}"
        for phase in ("prefill", "decode"):
            assert sum(r.scheduled for r in frame.running if r.phase == phase) == row[phase], f"step {s}"
        assert sum(r.samples for r in rows) == row["sampled"], f"step {s}"
        assert all(chunks.get((s, r.request), (r.tokens, r.before)) == (r.tokens, r.before) for r in rows), f"step {s}"
        replay.finish()
        assert replay.free_blocks == row["free_end"], f"step {s}"
        if run.setting.config.cache == Cache.PER_SLOT:
            assert sum(len(blocks) for _, _, blocks in replay.kept.values()) == row["cached"], f"step {s}"
