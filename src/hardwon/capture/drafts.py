"""What a session has taught, as a draft: the same for hooks and for transcripts."""

from __future__ import annotations

from hardwon.capture.command_name import names
from hardwon.types import Anchor, Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.lesson import Lesson


def draft_of(lesson: Lesson) -> Draft:
    """The lesson as it is recorded: on its places, or on the command that it is about where it has none. The words of the session that
    are its evidence stand at the end of the detail."""
    anchors = tuple(Anchor(place.path, place.symbol) for place in lesson.places)
    if not anchors and lesson.command:
        anchors = tuple(Anchor("", name) for name in names(lesson.command)[:1])
    parts = [lesson.detail]
    if lesson.passage and lesson.passage not in lesson.detail:
        parts.append(f"Evidence: {lesson.passage}")
    return Draft(
        lesson.text, lesson.kind, lesson.outcome, detail="\n".join(filter(None, parts)), code=lesson.code, because=lesson.because,
        rejected=lesson.rejected, anchors=anchors, tags=lesson.tags,
    )  # fmt: skip
