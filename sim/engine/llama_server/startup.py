"""What llama-server makes of its command line when it starts: slots, context, batch."""

from __future__ import annotations

from dataclasses import dataclass

AUTO = -1
AUTO_SLOTS = 4
CONTEXT_MULTIPLE = 256  # tokens; a context is rounded up to it


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of ``llama-server`` that set slots, context and batch, with its defaults.

    ``n_ctx`` 0 is the model's training context, for the whole server; ``n_ctx_per_slot`` is ``--kv-unified-per-slot``.
    """

    n_parallel: int = AUTO
    n_ctx: int = 0
    n_batch: int = 2048
    n_ubatch: int = 512
    kv_unified: bool = False
    n_ctx_per_slot: int = 0


@dataclass(frozen=True, slots=True)
class Startup:
    """A server's sizes: all in tokens but `n_slots`. `n_ctx_seq` is a slot's share of the pool."""

    n_slots: int
    n_ctx: int
    n_ctx_seq: int
    n_ctx_slot: int
    n_batch: int
    n_ubatch: int
    kv_unified: bool

    @property
    def can_start(self) -> bool:
        """Say whether the server starts; with fewer tokens a batch than slots it aborts."""
        return self.n_batch >= self.n_slots


def _rounded(tokens: int) -> int:
    return -(-tokens // CONTEXT_MULTIPLE) * CONTEXT_MULTIPLE


def start(arguments: Arguments, training_tokens: int) -> Startup:
    """Sizes of a server with these arguments.

    Parameters
    ----------
    arguments : Arguments
        What the command line says.
    training_tokens : int
        The model's training context [tokens].

    Returns
    -------
    Startup

    Notes
    -----
    Without a number of slots the server takes four with unified KV; a number turns unified off unless asked for.
    Separate KV rounds up twice, the whole and each slot's share, so that the pool may be larger than asked for.
    """
    is_auto = arguments.n_parallel == AUTO
    slots = AUTO_SLOTS if is_auto else arguments.n_parallel
    is_unified = is_auto or arguments.kv_unified
    asked = arguments.n_ctx or training_tokens
    if arguments.n_ctx == 0 and arguments.n_ctx_per_slot > 0:
        asked = slots * arguments.n_ctx_per_slot
    total = _rounded(asked)
    share = total if is_unified else _rounded(-(-total // slots))
    slot = min(share, training_tokens, arguments.n_ctx_per_slot or share)
    batch = min(arguments.n_batch, asked)
    return Startup(
        n_slots=slots,
        n_ctx=share if is_unified else share * slots,
        n_ctx_seq=share,
        n_ctx_slot=slot,
        n_batch=batch,
        n_ubatch=min(arguments.n_ubatch, batch),
        kv_unified=is_unified,
    )
