"""What is put into the code index, without secrets: default values, doc lines, arguments of a call on whose result another is made,
addresses that are imported from."""

from __future__ import annotations

from hardwon.intake.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    from hardwon.code.outline import Outline
    from hardwon.types import Value

    V = TypeVar("V", bound=Value)


def without_secrets(outline: Outline) -> Outline:
    """The outline with each secret marked. Looked at together first, because nearly always there is none: a thirtieth of the time that
    the parser takes."""
    words = [word for one in outline.symbols for word in (one.qualified, one.signature, one.doc)]
    words += [word for one in outline.imports for word in (one.module, one.name, one.alias)]
    words += {word for one in outline.calls for word in (one.receiver, one.name)}
    if not redact("\n".join(words))[1]:
        return outline
    cleaned: Outline = outline.replace(
        symbols=_clean(outline.symbols, "qualified", "signature", "doc"),
        imports=_clean(outline.imports, "module", "name", "alias"),
        calls=_clean(outline.calls, "caller", "name", "receiver"),
    )
    return cleaned


def _clean(several: Iterable[V], *fields: str) -> tuple[V, ...]:
    return tuple(one.replace(**{field: redact(getattr(one, field))[0] for field in fields}) for one in several)


def has_secret(content: bytes) -> bool:
    """Whether a file's text holds one."""
    return redact(content.decode("utf-8", "replace"))[1] > 0
