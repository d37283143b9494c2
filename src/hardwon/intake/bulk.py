"""Redaction wherever much text enters or a process lives long: the quick rules and the scanner together."""

from __future__ import annotations

from functools import lru_cache

from hardwon.intake import redact as quick
from hardwon.intake.scanner import Scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hardwon.types import Draft


@lru_cache(maxsize=4)
def _scanner(cache_folder: str) -> Scanner:
    """One for all of a process: loading takes half a second."""
    return Scanner(cache_folder)


class Redactor:
    """Both layers of rules. Its methods stand in for those of ``intake.redact``; it never fails, see ``degraded``."""

    def __init__(self, cache_folder: str) -> None:
        """``cache_folder``: where the scanner keeps its compiled rules, "" for the quick rules only; nothing is loaded or made before
        the first text."""
        self._scanner = _scanner(cache_folder)

    @property
    def degraded(self) -> str:
        """Why the scanner did not take part, in one line for ``mode.degraded``; "" while nothing ails it."""
        return self._scanner.trouble

    def load(self) -> str:
        """Load the scanner now; ``degraded`` afterwards."""
        return self._scanner.load()

    def redact(self, text: str) -> tuple[str, int]:
        """As ``intake.redact.redact``, with both layers."""
        return quick.redact(text, self._scanner.spans)

    def redact_draft(self, draft: Draft) -> tuple[Draft, int]:
        """As ``intake.redact.redact_draft``, with both layers."""
        return quick.redact_draft(draft, self.redact)

    def choose(self, texts: Iterable[str]) -> Callable[[str], tuple[str, int]]:
        """What is enough to redact these texts, which belong together (a commit's): looked at as one, they cost the scanner a
        third, and nearly always it finds nothing, so that the quick rules do."""
        return self.redact if self._scanner.spans("\n\n".join(texts)) else quick.redact
