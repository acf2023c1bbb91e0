"""Where claims of several lessons come from."""

from __future__ import annotations

from app.sections import Source

ORCA = Source(
    "G.-I. Yu et al., Orca: A Distributed Serving System for Transformer-Based Generative Models, OSDI 2022",
    "https://www.usenix.org/conference/osdi22/presentation/yu",
)
PAGED = Source(
    "W. Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, SOSP 2023",
    "https://arxiv.org/abs/2309.06180",
)
