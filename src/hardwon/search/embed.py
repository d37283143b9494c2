"""Texts into vectors: what an embedder is, what of a memory is embedded, and which embedder the settings mean."""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

from hardwon.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.settings import Settings
    from hardwon.types import Memory

INSTALL = "pip install 'hardwon[vectors]'"
# The bundled model's space: name, dimensions, first digits of the weights' sha256. Known without loading it.
BUNDLED_NAME, BUNDLED_SHA256 = "all-minilm-l6-v2-int8", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
BUNDLED_MODEL = f"{BUNDLED_NAME}/384/{BUNDLED_SHA256[:8]}"
# Bytes of a text's digest, as it lies beside the vector.
DIGEST_BYTES = 16
_LONGEST_TEXT = 20_000  # characters; every model cuts far below


class Embedder(Protocol):
    """Texts into vectors of length one. ``model`` names the space: vectors of two models are never compared."""

    model: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text, in this order: ``dimensions`` float32 numbers, little-endian, of length one.

        Unavailable when it cannot be done; then no vector was made.
        """


def text_of(memory: Memory) -> str:
    """What of a memory is embedded: text, reason, detail. What became of a change is not: it is written later, without notice."""
    reason = "" if memory.kind == "change" else memory.because
    return "\n".join(part for part in (memory.text, reason, memory.detail) if part)[:_LONGEST_TEXT]


def digest(text: str) -> bytes:
    """Which text a vector was made of."""
    return sha256(text.encode("utf-8", "replace")).digest()[:DIGEST_BYTES]


def load(settings: Settings) -> Embedder:
    """The embedder that the settings mean: an endpoint, a local model, else the bundled one; Unavailable says what is missing."""
    require_numpy()
    if settings.embed_url:
        from hardwon.search.endpoint import EndpointEmbedder

        return EndpointEmbedder(settings.embed_url, settings.embed_name)
    try:
        from hardwon.search.minilm import bundled, local

        return local(settings.embed_model) if settings.embed_model else bundled()
    except (ImportError, OSError) as error:
        raise Unavailable(f"a package that vectors need is missing or broken: {error}", remedy=INSTALL) from error


def require_numpy() -> None:
    """Unavailable without numpy, which every index computes with, wherever the vectors come from."""
    try:
        import numpy  # noqa: F401  # asked whether it is there
    except ImportError as error:
        raise Unavailable(f"a package that vectors need is missing or broken: {error}", remedy=INSTALL) from error
