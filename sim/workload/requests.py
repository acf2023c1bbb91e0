"""What a run is asked: one column per property of a request."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Requests:
    """N requests in order of their number, and G shared texts.

    Notes
    -----
    A text is a shared root (0 to G-1) or request i's prompt followed by its outputs (G + i). `parent` names the text
    whose first `common_tokens` tokens a prompt repeats; -1 is none. `after` names the request that has to end before
    this one arrives, `gap_s` later [s]; its own `arrival_s` is then nan. -1 is none.

    | column | dtype, shape | unit |
    |---|---|---|
    | arrival_s | f8 (N) | s |
    | prompt_tokens, output_tokens, max_new_tokens | i4 (N) | tokens; max_new_tokens is what the client asks for |
    | parent, common_tokens | i4 (N) | text; tokens |
    | root_tokens | i4 (G) | tokens |
    | after, gap_s | i4, f8 (N) | request; s |
    """

    arrival_s: NDArray[np.float64]
    prompt_tokens: NDArray[np.int32]
    output_tokens: NDArray[np.int32]
    max_new_tokens: NDArray[np.int32]
    parent: NDArray[np.int32]
    common_tokens: NDArray[np.int32]
    root_tokens: NDArray[np.int32]
    after: NDArray[np.int32]
    gap_s: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.arrival_s)
