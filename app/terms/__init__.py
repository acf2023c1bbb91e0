"""The terms of the field, by subjects, in the order in which they can be explained."""

from __future__ import annotations

from app.terms.batching import BATCHING
from app.terms.limits import LIMITS, SPECULATION
from app.terms.measures import MEASURES
from app.terms.memory import MEMORY
from app.terms.requests import REQUESTS
from app.terms.term import Term

SUBJECTS = (REQUESTS, BATCHING, MEMORY, MEASURES, LIMITS, SPECULATION)
TERMS = {term.key: term for subject in SUBJECTS for term in subject.terms}


def term_of(key: str) -> Term:
    """The term with a key; a template that asks for one that is not there fails, and its test."""
    return TERMS[key]
