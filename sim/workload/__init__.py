"""Workloads: from settings or a trace file to the requests of a run."""

from sim.workload.make import make_requests, with_rate_from
from sim.workload.read import read_trace, sample_trace
from sim.workload.requests import Requests
from sim.workload.trace import Trace

__all__ = ["Requests", "Trace", "make_requests", "read_trace", "sample_trace", "with_rate_from"]
