"""Sessions that are over, out of what their clients wrote: read, understood by the rules that hooks use too, and kept as of then.

A session is folded from its beginning each time that its files have grown, for what it teaches at its end hangs on how it began; what is
known of it already is passed over (engine/retelling.py). Files that are as they were are not opened.
"""

from __future__ import annotations

from hardwon.code.siblings import tops
from hardwon.engine.capturing import take_in
from hardwon.engine.code_index import Opened
from hardwon.engine.past_session import Session
from hardwon.engine.retelling import Retelling, name_of
from hardwon.engine.session_file import quiet
from hardwon.engine.session_names import identifier, summary_name
from hardwon.engine.then import Then
from hardwon.errors import InvalidInput, StoreError, place_of
from hardwon.importers.transcripts import finding
from hardwon.importers.transcripts.records import Tally
from hardwon.types import Scope, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hardwon.engine.core import Engine
    from hardwon.engine.past_session import Told
    from hardwon.engine.record import Submission
    from hardwon.importers.transcripts.finding import Found, Ground, Roots, Transcript
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Origin

# Raised when the same files would teach something else.
VERSION = 3
_SETTING = "transcript:"
_LATELY_MS = 7 * 86_400_000  # what hooks heard longer ago has been read since, or its file is gone
_FIELDS = ("records", "broken", "too_long", "cut", "rewound")


class ClientReport(Value):
    """What the transcripts of one client came to. ``sessions``: read now; ``unchanged``: as they were when they were read last;
    ``created``: new memories by kind; ``repeated``: known ones that happened once more; ``revised`` summaries; ``known``: what was in the
    memory already; ``refused``: what a person rejected, erased or forgot; ``redacted`` secrets; of the files: ``records``, those of an
    ``unknown`` kind by kind, ``broken`` and ``too_long`` lines, ``cut`` files, records that were ``rewound``; ``failed``: sessions that
    were passed over for an error of ours, to be tried again the next time."""

    client: str
    sessions: int = 0
    unchanged: int = 0
    events: int = 0
    created: Mapping[str, int] = {}
    repeated: int = 0
    revised: int = 0
    known: int = 0
    refused: int = 0
    redacted: int = 0
    records: int = 0
    unknown: Mapping[str, int] = {}
    broken: int = 0
    too_long: int = 0
    cut: int = 0
    rewound: int = 0
    failed: int = 0


class TranscriptReport(Value):
    """What an ingest of transcripts did or, ``dry``, would do. ``unreadable``: files, each with why; ``foreign``: files of other users."""

    clients: tuple[ClientReport, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    foreign: int = 0
    dry: bool = False

    @property
    def failed(self) -> int:
        """How many sessions were passed over for an error of ours."""
        return sum(one.failed for one in self.clients)


def ground(engine: Engine) -> Ground:
    """The repository as transcripts are found by: all of its working trees here, and its remote."""
    place = engine.home
    return finding.Ground(tops(place.checkout, place.entry.paths), place.checkout.origin)


def find(engine: Engine, roots: Roots, clients: Iterable[str] = finding.CLIENTS, since: int = 0) -> Found:
    """The sessions of this repository that clients keep on this machine."""
    return finding.find(ground(engine), roots, clients, since)


def heard(engine: Engine, roots: Roots) -> Found:
    """The sessions that hooks have heard of lately and that are quiet now, as their clients wrote them. To read them adds what hooks could
    not hear: an exit code that only the file tells, a call whose hook was late. All others are read when somebody asks for it."""
    now = engine.clock()
    names = quiet(engine, now - _LATELY_MS)
    if not names:
        return finding.Found()
    clients = {client for client, _ in names} & set(finding.CLIENTS)
    found = find(engine, roots, [one for one in finding.CLIENTS if one in clients], now - _LATELY_MS)
    known = tuple(one for one in found.transcripts if (one.client, identifier(one.session)) in names)
    return finding.Found(known)


def ingest(
    engine: Engine, found: Found, *, dry_run: bool = False, progress: Callable[[int, int], None] | None = None
) -> TranscriptReport:
    """Take in sessions, each in one transaction. What was written stays when it is interrupted."""
    if not dry_run:
        take_in(engine)  # what hooks have learnt and not told yet comes first
    run = _Run(engine, dry_run)
    total = sum(one.size or 1 for one in found.transcripts)
    done = 0
    for transcript in found.transcripts:
        run.take(transcript)
        done += transcript.size or 1
        if progress:
            progress(done, total)
    if run.wrote:
        engine.store.checkpoint(engine.wait)
    return run.report(found)


class _Counts:
    """The figures of one client while they are counted."""

    def __init__(self) -> None:
        self.figures = dict.fromkeys(
            ("sessions", "unchanged", "events", "repeated", "revised", "known", "refused", "redacted", "failed"), 0
        )
        self.created: dict[str, int] = {}
        self.tally = Tally()


class _Run:
    """One ingest."""

    def __init__(self, engine: Engine, dry: bool) -> None:
        self._engine = engine
        self._dry = dry
        self._ground = ground(engine)
        self._retelling = Retelling(engine, Then(engine))
        self._counts: dict[str, _Counts] = {}
        self._unreadable: list[tuple[str, str]] = []
        self.wrote = False

    def take(self, transcript: Transcript) -> None:
        """One session. What clients and people write is odder than anybody foresees: a session that this is not up to costs that session
        alone, is told, and is not marked as read. Errors of ours about the store end the run."""
        counts = self._counts.setdefault(transcript.client, _Counts())
        figures, created = dict(counts.figures), dict(counts.created)
        try:
            self._read(transcript, counts)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - counted, told with its kind and place, and the verb fails
            counts.figures, counts.created = figures | {"failed": figures["failed"] + 1}, created
            why = f"an error of Hardwon ({type(error).__name__} in {place_of(error)}), please report it"
            self._unreadable.append((_file(transcript), why))

    def _read(self, transcript: Transcript, counts: _Counts) -> None:
        stamp = f"{VERSION} {transcript.size} {transcript.modified}"
        with self._engine.store.read() as reader:
            if reader.setting(_setting(transcript)) == stamp:
                counts.figures["unchanged"] += 1
                return
        before = self._retelling.redacted
        try:
            with Opened(self._engine):
                session = Session(self._engine, self._ground, transcript, counts.tally)
        except InvalidInput as error:
            self._unreadable.append((_file(transcript), error.message))
            return
        self._keep(transcript, session.told, stamp, counts)
        counts.figures["sessions"] += 1
        counts.figures["events"] += session.events
        counts.figures["redacted"] += self._retelling.redacted - before

    def report(self, found: Found) -> TranscriptReport:
        """What came of it."""
        clients = tuple(
            ClientReport(
                client, **counts.figures, created=counts.created, unknown=dict(sorted(counts.tally.unknown.items())),
                **{name: getattr(counts.tally, name) for name in _FIELDS},
            )
            for client, counts in sorted(self._counts.items())
        )  # fmt: skip
        return TranscriptReport(clients, (*found.unreadable, *self._unreadable), found.foreign, self._dry)

    # --- writing

    def _keep(self, transcript: Transcript, told: Sequence[Told], stamp: str, counts: _Counts) -> None:
        ready: list[tuple[Submission, Told]] = []
        with self._engine.store.read() as reader:
            known = {one.name for one in told if self._retelling.is_known(reader, one.name)}
        for one in told:
            try:
                draft = self._retelling.cleaned(one.draft())
            except InvalidInput:
                try:  # a name that cannot be kept: the words still can
                    draft = self._retelling.cleaned(one.draft().replace(anchors=(), tags=()))
                except InvalidInput:
                    counts.figures["refused"] += 1
                    continue
            ready.append((self._retelling.submission(draft, one.at, one.origin, one.event.branch, known=one.name in known), one))
        if self._dry:
            with self._engine.store.read() as reader:
                for said, one in ready:
                    self._take(reader, said, one, counts, None, {})
            return
        ids: dict[str, str] = {}
        replaced: list[tuple[str, str, Origin]] = []
        with self._engine.write() as writer:
            for said, one in ready:
                identifier = self._take(writer, said, one, counts, writer, ids)
                if identifier and one.replaces and (old := ids.get(one.replaces)) and old != identifier:
                    replaced.append((identifier, old, said.origin))
            writer.set_setting(_setting(transcript), stamp)
        self.wrote = True
        for source, target, origin in replaced:
            self._link(source, target, origin)

    def _take(
        self, reader: Reader, said: Submission, one: Told, counts: _Counts, writer: Writer | None, ids: dict[str, str]
    ) -> str:
        """The id of the memory if it is new, "" else."""
        if isinstance(one.what, str):
            fate, identifier = self._retelling.item(reader, said, summary_name(one.event.client, one.event.session), writer), ""
        else:
            fate, identifier = self._retelling.lesson(reader, said, one.name, writer)
            ids[one.what.text] = identifier
        if fate == "created":
            counts.created[said.draft.kind] = counts.created.get(said.draft.kind, 0) + 1
            return identifier
        counts.figures[fate] += 1
        return ""

    def _link(self, source: str, target: str, origin: Origin) -> None:
        """What was decided anew in a session takes the place of what was decided before in it. Related by who said it: a person who has
        transcripts read vouches for nothing in them."""
        try:
            self._engine.link(source, target, "replaces", Scope(origin))
        except InvalidInput:
            return  # what a person confirmed stays


def _file(transcript: Transcript) -> str:
    """What a session is called in what is told of it."""
    return transcript.paths[0] if transcript.paths else transcript.session


def _setting(transcript: Transcript) -> str:
    return _SETTING + name_of(transcript.client, transcript.session, transcript.paths[0] if transcript.paths else "")
