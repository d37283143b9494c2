"""The second layer: Kingfisher's rules for several hundred vendors, in this process and without a network.

Loading takes half a second from its rule cache and five without one, so it happens at the first text, and never on the quick
path. Whatever ails the library, the quick rules hold: it is told in ``trouble``, not raised.
"""

from __future__ import annotations

from threading import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.intake.patterns import Span

# Rules that find what only belongs to a secret (an account's id, a host) report it as a helper; these words end their names.
_PUBLIC = ("-id", "-url", "-host", "-name", "-domain", "-username", "-repository", "-address", "-public-key")
_LONGEST_KIND = 24
_QUICK = "only the quick rules looked for secrets"
_UNHEARD = str.maketrans({"\0": " ", "\ufeff": " "})  # would make the library take text for UTF-16, or shift its positions


class Scanner:
    """Finds secrets by Kingfisher's rules. One for a process is enough; threads may share it."""

    def __init__(self, cache_folder: str) -> None:
        """``cache_folder``: where compiled rules are kept (2.4 MB); made if it is missing, and used only if nobody else can write it.

        Without one there is no scanner: to compile the rules takes five seconds, each time.
        """
        self._cache_folder = cache_folder
        self._lock = Lock()
        self._scanner: Any = None
        self._loaded = not cache_folder
        self.trouble = "" if cache_folder else f"secret scanner: there is no folder for its rules; {_QUICK}"

    def load(self) -> str:
        """Load the library now instead of at the first text; what ails it, or ""."""
        with self._lock:
            if not self._loaded:
                try:
                    self._scanner = self._load()
                except BaseException as error:  # noqa: BLE001  # a native library: what a panic in it raises is no Exception
                    self._told(error)
                self._loaded = True  # at last: another thread waits for the lock until then
        return self.trouble

    def spans(self, text: str) -> list[Span]:
        """``(start, end, kind)`` in characters of everything that its rules find."""
        if not self._loaded:
            self.load()
        if self._scanner is None or not text:
            return []
        raw = text.translate(_UNHEARD).encode("utf-8", "replace")  # a lone surrogate becomes one question mark
        try:
            found = [finding for finding in self._scanner.scan(raw) if _is_secret(finding)]
            places = [(item.location["start_offset"], item.location["end_offset"], _kind(item.rule_id)) for item in found]
        except BaseException as error:  # noqa: BLE001  # see load
            self._told(error)
            return []
        if len(raw) == len(text):
            return places
        return [(_chars(raw, start), _chars(raw, end), kind) for start, end, kind in places]

    def _load(self) -> Any:
        import kingfisher_sdk

        rules = kingfisher_sdk.Rules(cache_dir=self._cache_folder)
        if rules.cache_status == "bypassed":
            self.trouble = f"secret scanner: its rules cannot be kept in {self._cache_folder}, so that each start takes seconds"
        return kingfisher_sdk.Scanner(rules)

    def _told(self, error: BaseException) -> None:
        """Keep in one line what went wrong; what is no fault of the library goes on."""
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise error
        reason = "kingfisher-secret-scanner is not installed" if isinstance(error, ImportError) else type(error).__name__
        self.trouble = f"secret scanner: {reason}; {_QUICK}"


def _is_secret(finding: Any) -> bool:
    return finding.visible or not _name(finding.rule_id).endswith(_PUBLIC)


def _name(rule: str) -> str:
    """What a rule's id says: ``github-pat`` of ``betterleaks.github-pat.1``."""
    return [part for part in rule.lower().replace("/", ".").split(".") if not part.isdigit()][-1]


def _kind(rule: str) -> str:
    """A rule's id as the kind in a mark: letters, digits and hyphens."""
    kept = "".join(char if char in "abcdefghijklmnopqrstuvwxyz0123456789-" else "-" for char in _name(rule))
    return kept[:_LONGEST_KIND].strip("-") or "secret"


def _chars(raw: bytes, at: int) -> int:
    """How many characters of UTF-8 stand before a byte."""
    return len(raw[:at].decode("utf-8", "ignore"))
