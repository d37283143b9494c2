"""SrvDB as an index over the store's vectors: derived, in a folder beside the store, made anew or brought up to date when asked.

SrvDB lets one process open a database at a time, and keeps no filter: who is second is told so and asks the flat index, and what a
search finds is filtered and scored by the store. A manifest beside the database says which vectors are in it; it is taken away
before the database is touched and written after SrvDB has persisted, so that after a kill there is none and all is made anew.
"""

from __future__ import annotations

import os
import shutil
import struct
from hashlib import blake2b

from hardwon.errors import Busy, InvalidInput, StoreError, Unavailable
from hardwon.store import files
from hardwon.store.beside import beside
from hardwon.store.lock import FileLock
from hardwon.store.vectors import EXACT_LIMIT, best, blocks, made_of, rescored
from hardwon.types import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.store.base import Reader

MODES = ("flat", "hnsw", "ivf", "sq8", "pq", "auto")
# SrvDB's own limits.
DIMENSIONS = (128, 4096)
_TRAINING = 2000  # vectors that a quantizer or the partitions are trained on
_SLICE = 1000
_WAIT = 0.5  # seconds; who holds the database may be building it, which takes minutes
_GROWTH = 4
# With more than this share of the vectors changed the index is made anew: partitions and quantizers are trained once.
_CHANGED = 0.2
_EMPTY = "{}"  # metadata; the store has everything
_ENTRY = struct.Struct("<q16s")  # of the manifest: key, digest of the text


class SrvdbIndex:
    """One of SrvDB's modes; all but flat may miss neighbours (``hardwon bench vectors`` tells how many)."""

    def __init__(self, model: str, path: str, mode: str = "flat", exact_limit: int = EXACT_LIMIT) -> None:
        """``path`` is the store's. Unavailable when SrvDB is not installed or broken; InvalidInput for a mode that it has not."""
        if mode not in MODES:
            raise InvalidInput(
                f"SrvDB has no mode {mode!r}", field="HARDWON_VECTORS", remedy=f"use one of srvdb:{', srvdb:'.join(MODES)}"
            )
        try:
            import srvdb
        except ImportError as error:
            raise Unavailable(f"SrvDB is not installed: {error}", remedy="pip install 'hardwon[srvdb]'") from error
        self._databases: Any = srvdb.Database
        self.name = f"srvdb:{mode}"
        self.folder = beside(path, model, f"srvdb-{mode}")
        self._model = model
        self._mode = mode
        self._exact_limit = exact_limit

    def nearest(self, reader: Reader, vector: bytes, where: Filter, k: int) -> list[tuple[int, float]]:
        """The neighbours, as ``VectorIndex`` promises; Busy while another process has the database."""
        few = reader.vector_keys(self._model, where, self._exact_limit + 1)
        if len(few) <= self._exact_limit:
            return best(reader.vectors_of(self._model, few), vector, k)
        found: list[tuple[int, float]] = self._locked(lambda: self._found(reader, vector, where, k))
        return found

    def refresh(self, reader: Reader, dimensions: int) -> None:
        """Bring the database to the view's vectors."""
        self._locked(lambda: self._current(reader, dimensions))

    def _locked(self, work: Any) -> Any:
        """SrvDB's and the system's errors, as ours; and one process at a time, before SrvDB has to refuse the second."""
        lock = FileLock(self.folder + ".lock")
        try:
            lock.acquire(_WAIT)
            return work()
        except BlockingIOError as error:
            raise Busy(f"SrvDB's database {self.folder} is open elsewhere", remedy="try again") from error
        except OSError as error:
            raise StoreError(f"{self.folder} cannot be used: {error}", remedy="see to room and mode of its folder") from error
        except (ValueError, RuntimeError) as error:
            raise StoreError(f"SrvDB failed: {error}", remedy=f"remove {self.folder}: it is made anew") from error
        finally:
            lock.release()

    def _found(self, reader: Reader, vector: bytes, where: Filter, k: int) -> list[tuple[int, float]]:
        """Search for more until enough match the filter, or all were seen."""
        database = self._current(reader, len(vector) // 4)
        asked = memoryview(vector).cast("f").tolist()
        count = database.count()
        wanted = k
        while True:
            hits = database.search(asked, min(wanted, count)) if count else []
            matching = reader.matching([int(name) for name, _ in hits], where)
            if len(matching) >= k or wanted >= count:
                return rescored(reader, self._model, matching, vector, k)
            wanted *= _GROWTH

    def _current(self, reader: Reader, dimensions: int) -> Any:
        """The database with the view's vectors."""
        low, high = DIMENSIONS
        if not low <= dimensions <= high:
            raise StoreError(f"SrvDB takes vectors of {low} to {high} numbers, not {dimensions}", remedy="use another index")
        database = self._updated(reader, dimensions)
        return self._build(reader, dimensions) if database is None else database

    def _updated(self, reader: Reader, dimensions: int) -> Any:
        """The database that is there, with what changed since; None when it has to be made anew."""
        known = self._read_manifest()
        database = self._opened(dimensions) if known else None
        if known is None or database is None or database.count() != len(known[1]):
            return None
        source, digests = known
        if source == made_of(reader, self._model):
            return database
        wanted = reader.vector_digests(self._model)
        changed = [key for key, digest in wanted.items() if digests.get(key) != digest]
        gone = [str(key) for key in digests if key not in wanted]
        if len(changed) + len(gone) > _CHANGED * len(wanted):
            return None
        self._remove_manifest()
        if gone:
            database.delete(gone)
        self._fill(database, reader, changed, dimensions)
        self._write_manifest(made_of(reader, self._model), wanted)
        return database

    def _opened(self, dimensions: int) -> Any:
        """The database that is there; None when SrvDB cannot read it. It closes with its last reference."""
        try:
            return self._databases(self._data, dimension=dimensions, mode=self._mode)
        except (ValueError, RuntimeError):
            return None

    def _build(self, reader: Reader, dimensions: int) -> Any:
        """A new database; what was there goes first, for SrvDB does not make one over another."""
        self._remove_manifest()
        shutil.rmtree(self._data, ignore_errors=True)
        os.makedirs(self.folder, 0o700, exist_ok=True)
        wanted = reader.vector_digests(self._model)
        database = self._new(reader, sorted(wanted), dimensions)
        self._fill(database, reader, sorted(wanted), dimensions)
        self._write_manifest(made_of(reader, self._model), wanted)
        return database

    def _new(self, reader: Reader, keys: list[int], dimensions: int) -> Any:
        # Every n-th, so that the sample is of the whole history.
        sample = keys[:: max(1, len(keys) // _TRAINING)][:_TRAINING]
        training = [row for _, matrix in blocks(reader.vectors_of(self._model, sample), dimensions) for row in matrix.tolist()]
        if self._mode == "pq":
            return self._databases.new_product_quantized(self._data, dimensions, training)
        if self._mode == "sq8":
            return self._databases.new_scalar_quantized(self._data, dimensions, training)
        return self._databases(self._data, dimension=dimensions, mode=self._mode)

    def _fill(self, database: Any, reader: Reader, keys: list[int], dimensions: int) -> None:
        for begin in range(0, len(keys), _SLICE):
            rows = reader.vectors_of(self._model, keys[begin : begin + _SLICE])
            for some, matrix in blocks(rows, dimensions):
                database.upsert([str(key) for key in some], matrix.tolist(), [_EMPTY] * len(some))
        if self._mode == "ivf" and database.count():
            # The square root of the number is the usual count of partitions; a fifth of them is searched, and no fewer than ten.
            partitions = max(1, round(database.count() ** 0.5))
            database.configure_ivf(nlist=partitions, nprobe=min(partitions, max(10, partitions // 5)))
            database.train_ivf()
        database.persist()

    # The manifest: checksum, what the database was made of, then key and digest of each vector.

    @property
    def _data(self) -> str:
        return os.path.join(self.folder, "database")

    @property
    def _manifest(self) -> str:
        return os.path.join(self.folder, "manifest")

    def _read_manifest(self) -> tuple[bytes, dict[int, bytes]] | None:
        """None where there is none that is whole."""
        try:
            with open(self._manifest, "rb") as file:
                raw = file.read()
        except OSError:
            return None
        body = raw[32:]
        if len(raw) < 64 or raw[:32] != blake2b(body, digest_size=32).digest():
            return None
        return body[:32], dict(_ENTRY.iter_unpack(body[32:]))

    def _write_manifest(self, source: bytes, digests: Mapping[int, bytes]) -> None:
        body = source + b"".join(_ENTRY.pack(key, digest) for key, digest in digests.items())
        files.write_whole(self._manifest, [blake2b(body, digest_size=32).digest(), body], durable=False)

    def _remove_manifest(self) -> None:
        """On the disk before the database changes: a manifest that outlived a power loss would vouch for what it never saw."""
        if os.path.exists(self._manifest):
            files.disk.unlink(self._manifest)
            files.disk.sync_folder(self.folder)
