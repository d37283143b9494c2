"""Vectors from an endpoint that the person named: OpenAI's form of request, or Ollama's. Never asked unless it was named."""

from __future__ import annotations

import json
from array import array
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from math import isfinite, sqrt
from sys import byteorder
from urllib.parse import urlsplit

from hardwon.errors import InvalidInput, Unavailable
from hardwon.intake.redact import redact
from hardwon.settings import embed_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_TIMEOUT = 30.0  # seconds for a batch
_BATCH = 32
_LONGEST_ANSWER = 64 << 20
_REMEDY = "see HARDWON_EMBED_URL and HARDWON_EMBED_NAME; unset them for the bundled model"


class EndpointEmbedder:
    """``url`` is the whole address (``http://localhost:11434/api/embed``, ``https://…/v1/embeddings``), ``name`` the model there.

    What is sent is redacted once more: texts of the store are clean already, questions are not. Redirections are not followed.
    """

    def __init__(self, url: str, name: str) -> None:
        """InvalidInput for an address that is none; Unavailable when it does not answer, for the size of vectors is asked first."""
        self._url = urlsplit(url)
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise InvalidInput(
                f"HARDWON_EMBED_URL={url[:200]!r} is no http address", field="HARDWON_EMBED_URL", remedy="give the whole address"
            )
        self._name = name
        self.dimensions = len(self._request(["dimensions"])[0]) // 4
        self.model = f"{self._url.hostname}:{name}/{self.dimensions}"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text, in batches; Unavailable when one of them fails."""
        clean = [redact(text)[0] for text in texts]
        return [vector for begin in range(0, len(clean), _BATCH) for vector in self._request(clean[begin : begin + _BATCH])]

    def _request(self, texts: list[str]) -> list[bytes]:
        try:
            rows = _rows(json.loads(self._post(json.dumps({"model": self._name, "input": texts}).encode())))
            vectors = [_unit(row) for row in rows]
        except (OSError, HTTPException) as error:
            raise Unavailable(f"{self._url.hostname} gave no vectors: {error}", remedy=_REMEDY) from error
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise Unavailable(f"{self._url.hostname} answered something else than vectors: {error}", remedy=_REMEDY) from error
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1:
            raise Unavailable(f"{self._url.hostname} gave {len(vectors)} vectors for {len(texts)} texts", remedy=_REMEDY)
        return vectors

    def _post(self, body: bytes) -> bytes:
        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        connection = kind(self._url.hostname or "", self._url.port, timeout=_TIMEOUT)
        headers = {"Content-Type": "application/json"}
        if key := embed_key():
            headers["Authorization"] = f"Bearer {key}"
        path = (self._url.path or "/") + (f"?{self._url.query}" if self._url.query else "")
        try:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise HTTPException(f"status {answer.status}")
            return answer.read(_LONGEST_ANSWER)
        finally:
            connection.close()


def _rows(answer: Any) -> list[list[float]]:
    """``{"embeddings": [[…]]}`` of Ollama, ``{"data": [{"index": 0, "embedding": […]}]}`` of OpenAI."""
    if "embeddings" in answer:
        return list(answer["embeddings"])
    return [item["embedding"] for item in sorted(answer["data"], key=lambda item: int(item["index"]))]


def _unit(row: list[float]) -> bytes:
    length = sqrt(sum(number * number for number in row))
    if not length or not isfinite(length):
        raise ValueError("a vector without direction")
    numbers = array("f", (number / length for number in row))
    if byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
