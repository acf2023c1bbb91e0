"""The table of lessons. A row is a file here; its words are in `templates/lessons/SLUG/`, a file per section."""

from __future__ import annotations

from app.lessons.batching_is_cheap import BATCHING_IS_CHEAP
from app.lessons.paged_kv import PAGED_KV
from app.lessons.static_or_continuous import STATIC_OR_CONTINUOUS
from app.lessons.tour import TOUR
from app.sections import Lesson

LESSONS: tuple[Lesson, ...] = (STATIC_OR_CONTINUOUS, PAGED_KV, BATCHING_IS_CHEAP)
"""After the tour, in the order they are best read."""

LESSON_BY_SLUG = {lesson.slug: lesson for lesson in LESSONS}
ALL = (TOUR, *LESSONS)
