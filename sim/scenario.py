"""A scenario: what is asked (Workload), of what (Server), what counts as good (Slo). Every value is checked here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, TypeVar

from sim.catalog import Model, find_gpu, find_model
from sim.errors import ScenarioError
from sim.fork import PREFIX, Fork, is_fork_name, read_fork
from sim.parameters import BY_NAME, PARAMETERS
from sim.values import check_value, read_value, write_value

__all__ = ["Fork", "Scenario", "ScenarioError", "Server", "Slo", "Workload", "scenario_from", "settings_of"]

LISTS = ("arrival_list", "prompt_list", "output_list")
S = TypeVar("S", "Workload", "Server", "Slo")


@dataclass(frozen=True, slots=True)
class Workload:
    """The requests: when they come, how long they are, what they share. Fields are the rows of `PARAMETERS`."""

    load: str
    rate: float
    burstiness: float
    rescale_arrivals: bool
    concurrency: int
    think_time_s: float
    num_requests: int
    seed: int
    trace: str
    trace_scale: float
    trace_from_s: float
    trace_to_s: float | None
    arrival_list: tuple[float, ...]
    prompt_list: tuple[int, ...]
    output_list: tuple[int, ...]
    prompt_tokens: int
    prompt_dist: str
    prompt_sigma: float
    output_tokens: int
    output_dist: str
    output_sigma: float
    max_new_factor: float
    shared_prefix_tokens: int
    prefix_groups: int
    prefix_share: float
    session: str
    turns: int
    turn_gap_s: float
    tool_output_tokens: int

    def __post_init__(self) -> None:
        _check_section("workload", self)
        _check_lists(self)
        _check_trace(self)


@dataclass(frozen=True, slots=True)
class Server:
    """The server: engine, model, hardware, policies, cost. Fields are the rows of `PARAMETERS`; None is `auto`."""

    engine: str
    model: str
    gpu: str
    weights: str
    kv_cache_dtype: str
    tensor_parallel_size: int
    replicas: int
    router: str
    gpu_memory_utilization: float
    num_gpu_blocks: int | None
    block_size: int
    max_model_len: int | None
    max_num_seqs: int
    max_num_batched_tokens: int | None
    long_prefill_token_threshold: int
    scheduler_reserve_full_isl: bool
    watermark: float
    async_scheduling: bool
    batching: str
    static_wait_s: float
    static_rows: str
    kv: str
    prefix_cache: str
    prefill: str
    num_speculative_tokens: int
    acceptance: float
    draft_cost: float
    max_waiting: int | None
    cost: str

    def __post_init__(self) -> None:
        _check_section("server", self)
        _check_server(self)


@dataclass(frozen=True, slots=True)
class Slo:
    """What a good request is [ms]. Fields are the rows of `PARAMETERS`."""

    slo_ttft_ms: float
    slo_tpot_ms: float

    def __post_init__(self) -> None:
        _check_section("slo", self)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Workload, server, SLO and what changes in mid-run: all that a run depends on but the trace file."""

    workload: Workload
    server: Server
    slo: Slo
    fork: Fork | None = None

    def __post_init__(self) -> None:
        if self.fork:
            _check_fork(self, self.forked)

    @property
    def forked(self) -> Scenario:
        """The scenario as it is from its fork on, itself without a fork.

        Raises
        ------
        ScenarioError
            If a changed value is out of range or does not go with what stays.
        """
        changes = dict(self.fork.changes) if self.fork else {}
        try:
            return Scenario(
                _changed(self.workload, changes), _changed(self.server, changes), _changed(self.slo, changes)
            )
        except ScenarioError as error:
            raise self.fork_error(error) from None

    def fork_error(self, error: ScenarioError) -> ScenarioError:
        """The error of the forked scenario, told of a change: of the one at fault, or the one that meets what stays."""
        changes = dict(self.fork.changes) if self.fork else {}
        if error.field in changes:
            return ScenarioError(PREFIX + error.field, error.value, error.allowed)
        name = next(iter(changes))
        what = f"what goes with {error.field}={error.value}, which would have to be {error.allowed}"
        return ScenarioError(PREFIX + name, changes[name], what)


def scenario_from(settings: Mapping[str, Any]) -> Scenario:
    """Scenario from settings by name; what is not set has its default.

    Parameters
    ----------
    settings : Mapping
        Text (as in a URL), JSON values or lists by parameter name. Model and GPU may be aliases. A list sets
        `num_requests` to its length.

    `fork` and `fork.NAME` are what changes in mid-run.

    Raises
    ------
    ScenarioError
        For an unknown name, an unreadable value, one out of range, or two that exclude each other.

    Examples
    --------
    >>> scenario_from({"rate": "2.5", "gpu": "H100"}).workload.rate
    2.5
    """
    for name in settings:
        if name not in BY_NAME and not is_fork_name(name):
            raise _unknown_name(name)
    values = {p.name: read_value(p, settings[p.name]) if p.name in settings else p.default for p in PARAMETERS}
    lengths = [len(values[name]) for name in LISTS if values[name]]
    if lengths:
        values["num_requests"] = lengths[0]
    sections = {
        s: {p.name: values[p.name] for p in PARAMETERS if p.section == s} for s in ("workload", "server", "slo")
    }
    sections_of = Workload(**sections["workload"]), Server(**sections["server"]), Slo(**sections["slo"])
    return Scenario(*sections_of, fork=read_fork(settings))


def settings_of(scenario: Scenario, defaults: bool = True) -> dict[str, Any]:
    """JSON values by parameter name, in the order of the table; without `defaults` only those that differ.

    A fork is not among them: see `Fork.settings`.

    Examples
    --------
    >>> settings_of(scenario_from({"rate": 2}), defaults=False)
    {'rate': 2}
    """
    values = {p.name: getattr(getattr(scenario, p.section), p.name) for p in PARAMETERS}
    return {p.name: write_value(p, values[p.name]) for p in PARAMETERS if defaults or values[p.name] != p.default}


def _changed(section: S, changes: Mapping[str, Any]) -> S:
    own = {field.name for field in fields(section)}
    return replace(section, **{name: value for name, value in changes.items() if name in own})


def _check_fork(first: Scenario, later: Scenario) -> None:
    """Refuse changes that mean nothing, or that a run could not make without forgetting what is under way."""
    load, server = first.workload, first.server
    if load.rate != later.workload.rate and (load.load != "open" or load.arrival_list):
        what = "changed only with load=open and drawn arrivals; here no rate says when requests come"
        raise ScenarioError(PREFIX + "rate", later.workload.rate, what)
    caches = {server.prefix_cache, later.server.prefix_cache}
    if len(caches) > 1 and "per_slot" in caches:
        what = "off or shared, changed from the other: slots keep sequences from the start or not at all"
        raise ScenarioError(PREFIX + "prefix_cache", later.server.prefix_cache, what)
    if server.async_scheduling and server.batching != later.server.batching:
        what = f"{server.batching} with async_scheduling=true, which has a step in flight whenever the other begins"
        raise ScenarioError(PREFIX + "batching", later.server.batching, what)


def _unknown_name(name: str) -> ScenarioError:
    close = get_close_matches(name, BY_NAME, n=3)
    hint = ", ".join(close) if close else "the names of the parameter table, such as rate or max_num_seqs"
    return ScenarioError(name, "an unknown parameter", hint)


def _check_section(section: str, values: Workload | Server | Slo) -> None:
    for parameter in PARAMETERS:
        if parameter.section == section:
            check_value(parameter, getattr(values, parameter.name))


def _check_lists(workload: Workload) -> None:
    lists: dict[str, Sequence[float]] = {name: getattr(workload, name) for name in LISTS if getattr(workload, name)}
    for name, values in lists.items():
        if len(values) != workload.num_requests:
            allowed = f"as many values as the other lists and num_requests: {workload.num_requests}"
            raise ScenarioError(name, f"a list of {len(values)}", allowed)
        if workload.session != "none":
            raise ScenarioError(name, f"a list of {len(values)}", "lists only with session=none")
        if workload.load == "trace":
            raise ScenarioError(name, f"a list of {len(values)}", "lists only with load=open, burst or closed")
    if workload.arrival_list and workload.load == "closed":
        raise ScenarioError("arrival_list", f"a list of {len(workload.arrival_list)}", "only with load=open or burst")


def _check_trace(workload: Workload) -> None:
    if workload.load == "trace" and not workload.trace:
        raise ScenarioError("trace", workload.trace, "with load=trace the sha256 of an uploaded trace")
    if workload.load == "trace" and workload.session != "none":
        raise ScenarioError("session", workload.session, "none with load=trace")
    if workload.trace_to_s is not None and workload.trace_to_s <= workload.trace_from_s:
        raise ScenarioError("trace_to_s", workload.trace_to_s, f"above trace_from_s, {workload.trace_from_s:g}, or end")


def _check_server(server: Server) -> None:
    budget = server.max_num_batched_tokens
    if budget is not None and budget < server.max_num_seqs:
        raise ScenarioError("max_num_batched_tokens", budget, f"at least max_num_seqs, {server.max_num_seqs}")
    if server.num_speculative_tokens > 0:
        _check_drafts(server)
    _check_model(server)


def _check_drafts(server: Server) -> None:
    """Refuse what no recorded run of vLLM has: drafts with async scheduling, or a limit below a token and its drafts.

    By the rules a near-full prefix hit would wait for ever under such a budget, and forget more than it computed
    under such a threshold.
    """
    budget, threshold = server.max_num_batched_tokens, server.long_prefill_token_threshold
    row = 1 + server.num_speculative_tokens
    if server.async_scheduling:
        raise ScenarioError("async_scheduling", "true", "false with num_speculative_tokens above 0")
    if budget is not None and budget < row:
        raise ScenarioError("max_num_batched_tokens", budget, f"at least {row}, a token and its drafts")
    if 0 < threshold < row:
        raise ScenarioError("long_prefill_token_threshold", threshold, f"0, or at least {row}, a token and its drafts")


def _check_model(server: Server) -> None:
    model, gpu, tp = find_model(server.model), find_gpu(server.gpu), server.tensor_parallel_size
    if not _is_divisor(model, tp):
        divisors = ", ".join(
            str(n) for n in range(1, int(BY_NAME["tensor_parallel_size"].high) + 1) if _is_divisor(model, n)
        )
        raise ScenarioError("tensor_parallel_size", tp, f"what divides the heads of {model.id}: {divisors}")
    if tp > 1 and gpu.link_bytes_per_s is None:
        raise ScenarioError("tensor_parallel_size", tp, f"1 on {gpu.id}, which has no link to others")
    if server.max_model_len is not None and server.max_model_len > model.max_context:
        raise ScenarioError(
            "max_model_len", server.max_model_len, f"at most {model.max_context}, the limit of {model.id}"
        )


def _is_divisor(model: Model, tp: int) -> bool:
    """Whether vLLM can split the heads so: KV heads are split evenly or copied evenly."""
    return model.heads % tp == 0 and (model.kv_heads % tp == 0 or tp % model.kv_heads == 0)
