"""The proof of durability under power loss: what it finds where nothing is wrong, and that it finds what is."""

from __future__ import annotations

import json
import os
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.errors import HardwonError, NoStore, SchemaOlder
from hardwon.proof import controls, performance, powerloss, workload
from hardwon.proof.controls import CONTROLS, Setting
from hardwon.proof.images import KINDS, SECTOR, DiskState
from hardwon.proof.observation import STORE, open_store
from hardwon.proof.powerloss import Bench, Task, judged
from hardwon.proof.recorder import Recording, RecordingDisk, RecordingVFS
from hardwon.proof.report import Plan
from hardwon.store import files, swap
from hardwon.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from hardwon.proof.powerloss import Tally
    from tests.conftest import Result

    Command = Callable[..., Result]

BY_NAME = {operation.name: operation for operation in workload.OPERATIONS}
SCALE = int(os.environ.get("HARDWON_SCALE", "1"))


@pytest.fixture
def disk(tmp_path: Path) -> tuple[str, Recording, RecordingDisk]:
    """An empty recorded folder, and the disk that records it."""
    root = os.path.realpath(tmp_path / "recorded")
    os.makedirs(root)
    recording = Recording(root)
    return root, recording, RecordingDisk(recording)


def judge(tmp_path: Path, names: Sequence[str], limit: int = 0, setting: Setting = performance.FAITHFUL) -> Tally:
    """The images of the last of these operations, before which a store was made."""
    stage = tmp_path / "stage"
    stage.mkdir()
    done = performance.perform(str(stage), 2, 0, setting, [BY_NAME[name] for name in names])
    first = [moment.at for moment in done.moments if moment.acknowledged][-2]
    return judged(done, Bench(str(tmp_path / "image")), Task(2, limit=limit, first=first))


def outcomes(recording: Recording, path: str, draws: int = 20) -> set[bytes | None]:
    """What a file may hold after a power loss at the end of a recording; None for a file that is not there."""
    state = DiskState(recording)
    for event in recording.events:
        state.apply(event)
    name = os.path.relpath(path, recording.root)
    return {state.image(kind, Random(number)).files.get(name) for kind in KINDS for number in range(draws)}


def put(disk: RecordingDisk, path: str, content: bytes, *, synced: bool) -> None:
    descriptor = disk.open(path, os.O_CREAT | os.O_WRONLY)
    disk.write(descriptor, content, 0)
    if synced:
        disk.sync(descriptor)
    disk.close(descriptor)


# The model of the disk


def test_what_is_synced_with_its_folder_is_there_and_nothing_else_is_sure(disk: tuple[str, Recording, RecordingDisk]) -> None:
    root, recording, recorded = disk
    path = os.path.join(root, "a")
    put(recorded, path, b"one", synced=True)
    assert outcomes(recording, path) == {None, b"one"}  # whole, if it has a name
    recorded.sync_folder(root)
    assert outcomes(recording, path) == {b"one"}
    put(recorded, path, b"two", synced=False)
    assert {b"one", b"two"} <= outcomes(recording, path)
    assert len(outcomes(recording, path)) > 2  # and garbage


def test_a_rename_without_a_sync_of_the_content_can_leave_an_empty_file(disk: tuple[str, Recording, RecordingDisk]) -> None:
    root, recording, recorded = disk
    path = os.path.join(root, "a")
    put(recorded, path, b"old", synced=True)
    put(recorded, path + ".part", b"new", synced=False)
    recorded.sync_folder(root)
    recorded.replace(path + ".part", path)
    found = outcomes(recording, path)
    assert {b"old", b"", b"new"} <= found
    assert None not in found  # one step: it has no moment without a file


def test_names_come_and_go_in_their_order(disk: tuple[str, Recording, RecordingDisk]) -> None:
    root, recording, recorded = disk
    for name in ("a", "b", "c"):
        put(recorded, os.path.join(root, name), b"", synced=True)
    recorded.unlink(os.path.join(root, "a"))
    state = DiskState(recording)
    for event in recording.events:
        state.apply(event)
    found = {tuple(sorted(state.image(kind, Random(number)).files)) for kind in KINDS for number in range(40)}
    assert found == {(), ("a",), ("a", "b"), ("a", "b", "c"), ("b", "c")}


def test_a_new_folder_is_lost_with_all_that_was_synced_in_it(disk: tuple[str, Recording, RecordingDisk]) -> None:
    root, recording, recorded = disk
    path = os.path.join(root, "new", "a")
    recorded.mkdir(os.path.dirname(path))
    put(recorded, path, b"one", synced=True)
    recorded.sync_folder(os.path.dirname(path))
    assert outcomes(recording, path) == {None, b"one"}
    recorded.sync_folder(root)
    assert outcomes(recording, path) == {b"one"}


def test_a_folder_that_is_made_is_there_for_good(disk: tuple[str, Recording, RecordingDisk]) -> None:
    root, recording, recorded = disk
    path = os.path.join(root, "new", "deep", "a")
    recorded.make_folder(os.path.dirname(path))
    put(recorded, path, b"one", synced=True)
    recorded.sync_folder(os.path.dirname(path))
    assert outcomes(recording, path) == {b"one"}


@given(sizes=st.lists(st.integers(1, 3 * SECTOR), min_size=1, max_size=4), seed=st.integers(0, 1 << 30))
@settings(deadline=None, max_examples=60)
def test_a_write_is_hurt_in_whole_sectors_and_its_neighbours_never(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], seed: int
) -> None:
    root = os.path.realpath(tmp_path_factory.mktemp("recorded"))
    recording = Recording(root)
    recorded = RecordingDisk(recording)
    path, total = os.path.join(root, "a"), sum(sizes)
    put(recorded, path, b"o" * (total + SECTOR), synced=True)
    recorded.sync_folder(root)
    descriptor, at = recorded.open(path, os.O_WRONLY), 0
    for size in sizes:
        recorded.write(descriptor, b"n" * size, at)
        at += size
    recorded.close(descriptor)
    state = DiskState(recording)
    for event in recording.events:
        state.apply(event)
    edges = {0, total, *(sum(sizes[:count]) for count in range(len(sizes))), *range(0, total, SECTOR)}
    for kind in ("torn", "subset", "reordered", "prefix", "none", "all"):
        found = state.image(kind, Random(seed)).files["a"]
        assert found[total:] == b"o" * SECTOR
        assert all(position in edges for position in range(1, total) if found[position] != found[position - 1]), kind
    garbage = state.image("garbage", Random(seed)).files["a"]
    assert garbage[total:] == b"o" * SECTOR
    assert len(garbage) == total + SECTOR


def test_the_recorded_disk_is_the_disk(tmp_path: Path) -> None:
    """With everything applied, the model holds byte for byte what the real folder does."""
    stage = tmp_path / "stage"
    stage.mkdir()
    done = performance.perform(str(stage), 5, 12)
    state = DiskState(done.recording)
    for event in done.recording.events:
        state.apply(event)
    image = state.image("all", Random(0))
    real = {
        os.path.relpath(os.path.join(folder, name), stage): (stage / folder / name).read_bytes()
        for folder, _, names in os.walk(stage)
        for name in names
        if not name.endswith(("-shm", ".lock"))
    }
    assert image.files.keys() == real.keys()
    assert [name for name in real if real[name] != image.files[name]] == []


# Where nothing is wrong


@pytest.mark.parametrize("seed", [1, 3, pytest.param(8, marks=pytest.mark.slow)])
def test_no_power_loss_loses_what_was_acknowledged(seed: int) -> None:
    tally = powerloss.judge(Task(seed, limit=40))
    assert [violation.what for violation in tally.violations] == []
    assert len(tally.digests) == 40
    assert tally.acknowledged > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(BY_NAME) - {"reopen"}))
def test_each_operation_survives_at_every_event(tmp_path: Path, name: str) -> None:
    before = {"undo": ["record", "forget"], "index": ["record", "embed"], "restore": ["record", "backup", "lesson"]}
    operation = BY_NAME[name]
    names = [*before.get(name, ["record", "lesson"]), name, *(one.name for one in operation.then if one.name in BY_NAME)]
    tally = judge(tmp_path, names, limit=12)
    assert [violation.what for violation in tally.violations] == []


@pytest.mark.slow
def test_a_thousand_images_of_power_losses(tmp_path: Path) -> None:
    plan = Plan(20261130, 240.0 * SCALE, str(tmp_path), count=1_000 * SCALE)
    outcome = powerloss.run(plan, lambda done, of: None)
    assert outcome.violations == ()
    assert outcome.ok
    assert outcome.figures["distinct"] > 300


def test_what_is_drawn_at_an_event_hangs_on_the_seed_alone(tmp_path: Path) -> None:
    """So that a seed and the number of an event show a finding again."""
    names = ["record", "lesson", "forget", "register", "checkpoint", "repeat"]
    shapes = []
    for run in ("one", "two"):
        stage = tmp_path / run
        stage.mkdir()
        done = performance.perform(str(stage), 2, 0, operations=[BY_NAME[name] for name in names])
        events = [(event.kind, event.file, event.name, event.at, len(event.data)) for event in done.recording.events]
        drawn = [(at, image.kind, sorted(map(len, image.files.values()))) for at, image in powerloss._drawn(done)]
        shapes.append((events, drawn))
    assert shapes[0] == shapes[1]


def test_a_store_whose_making_was_cut_short_names_init(tmp_path: Path) -> None:
    """With a journal that only a writer may apply, too: that is no matter of the file's mode."""
    stage = tmp_path / "stage"
    stage.mkdir()
    done = performance.perform(str(stage), 2, 0, operations=[])
    bench, told = Bench(str(tmp_path / "image")), set()
    for _, image in powerloss._drawn(done):
        bench._lay(image)
        try:
            with open_store(os.path.join(bench.root, STORE)) as store, store.read():
                pass
        except HardwonError as error:
            told.add(type(error))
            assert "hardwon init" in error.remedy
    assert told == {NoStore, SchemaOlder}


# Where something is


@pytest.mark.slow
@pytest.mark.parametrize("setting", CONTROLS, ids=lambda setting: setting.name)
def test_each_control_is_noticed(setting: Setting) -> None:
    tally = powerloss.judge(Task(2, setting, 40))
    assert tally.broken > 0


def test_a_sync_that_is_forgotten_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecordingDisk, "sync", lambda self, descriptor: None)
    tally = judge(tmp_path, ["record", "export"])
    assert any("export" in violation.what for violation in tally.violations)


def test_a_folder_that_is_not_synced_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(self: RecordingDisk, path: str, mode: int = 0o700) -> None:
        for folder in (os.path.dirname(path), path):
            if not os.path.isdir(folder):
                self.mkdir(folder, mode)

    monkeypatch.setattr(RecordingDisk, "make_folder", make)
    tally = judge(tmp_path, ["record", "lesson"], limit=20)
    assert any("store: what was acknowledged" in violation.what for violation in tally.violations)


@pytest.mark.slow
def test_a_swap_in_the_wrong_order_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old log has to be gone before the new file is there, or it is read on top of that."""

    def finish(path: str) -> None:
        names = swap._noted(path)
        if names is None:
            return
        new, kept = (os.path.join(os.path.dirname(path), name) for name in names)
        if os.path.exists(new):
            files.disk.link(path, kept)
            files.disk.replace(new, path)
            files.disk.sync_folder(os.path.dirname(path))
        for end in ("-wal", "-shm"):
            files.disk.unlink(path + end)
        files.disk.unlink(path + swap.NOTE)
        files.disk.sync_folder(os.path.dirname(path))

    monkeypatch.setattr(swap, "finish", finish)
    names = ["record", "backup", "checkpoint", "lesson", "restore"]  # so that the log alone is not the whole store
    done = performance.perform(str(tmp_path), 2, 0, operations=[BY_NAME[name] for name in names])
    monkeypatch.undo()
    first = done.moments[-2].at
    tally = judged(done, Bench(str(tmp_path / "image")), Task(2, first=first))
    assert tally.broken


@pytest.mark.slow
def test_two_transactions_where_one_was_promised_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(world: workload.World) -> None:
        workload.record(world)
        workload.record(world)

    monkeypatch.setitem(BY_NAME, "record", workload.Operation("record", twice))
    tally = judge(tmp_path, ["record"])
    assert any("no whole operation" in violation.what for violation in tally.violations)


def test_an_erased_text_that_is_still_on_the_disk_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteStore, "scrub", lambda self, timeout: True)
    tally = judge(tmp_path, ["record", "lesson", "erase", "record"], limit=20)
    assert any("was erased" in violation.what for violation in tally.violations)


@pytest.mark.slow
def test_a_store_that_lies_about_an_acknowledgement_is_noticed_at_once(tmp_path: Path) -> None:
    hasty = next(setting for setting in CONTROLS if setting.store is controls.Hasty)
    tally = judge(tmp_path, ["record"], setting=hasty, limit=1)
    assert any("was acknowledged as" in violation.what for violation in tally.violations)


def test_recordings_may_live_beside_one_another(tmp_path: Path) -> None:
    made = [RecordingVFS(Recording(str(tmp_path))) for _ in range(2)]
    assert made[0].name != made[1].name
    for vfs in made:
        vfs.unregister()


def test_the_disk_is_given_back(tmp_path: Path) -> None:
    before = files.disk
    judge(tmp_path, ["record"], limit=1)
    assert files.disk is before


def test_what_was_erased_stays_so_in_a_sequence_that_restores_an_earlier_backup(tmp_path: Path) -> None:
    tally = judge(tmp_path, ["record", "record", "record", "backup", "erase", "restore", "approve", "feedback"], limit=40)
    assert (tally.broken, tally.violations) == (0, ())


def test_a_sequence_that_cannot_be_done_is_told_and_ends_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(world: workload.World) -> None:
        raise NoStore("it is gone")

    monkeypatch.setattr(workload, "FIRST", (workload.Operation("create", cannot), workload.Operation("upgrade", cannot)))
    monkeypatch.setattr(powerloss, "CONTROLS", ())
    outcome = powerloss.run(Plan(2, 3600.0, str(tmp_path), count=120), lambda done, of: None)  # by worker processes
    assert (outcome.figures["sequences"], outcome.figures["violations"], outcome.ok) == (3, 3, False)
    assert {violation.again for violation in outcome.violations} >= {"hardwon torture --power-loss --seed 2"}
    assert all("NoStore: it is gone" in violation.what for violation in outcome.violations)
    with pytest.raises(NoStore):  # of a control it would count as noticed
        powerloss.judge(Task(2, CONTROLS[0], limit=10))


# The command


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short sequences, and a few images of two controls: the workers are forks of this process."""
    monkeypatch.setattr(powerloss, "LENGTH", 6)
    monkeypatch.setattr(powerloss, "_CONTROL_IMAGES", 25)
    monkeypatch.setattr(powerloss, "CONTROLS", CONTROLS[1:3])


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_the_command_tells_seed_figures_and_controls_and_writes_a_report(tmp_path: Path, call: Command) -> None:
    place = tmp_path / "report.html"
    words = ("torture", "--power-loss", "--images", "20", "--seed", "3", "--report", str(place))
    done = call(*words, "--json", cwd=tmp_path)
    assert done.code == 0
    assert done.err.startswith("hardwon: seed 3")
    data = done.data
    assert (data["ok"], data["findings"], data["seed"]) == (True, [], 3)
    (kind,) = data["kinds"]
    assert (kind["kind"], kind["ok"], kind["figures"]["distinct"]) == ("power-loss", True, 20)
    assert {control["name"] for control in kind["controls"]} == {setting.name for setting in CONTROLS[1:3]}
    assert all(control["found"] for control in kind["controls"])
    page = place.read_text()
    assert "every promise held" in page
    assert "--seed 3" in page
    for word in ("http", "src=", "<script", "url("):
        assert word not in page
    assert call(*words[:-1], str(tmp_path / "other.txt"), cwd=tmp_path).code == 2
    mine = tmp_path / "mine.html"
    mine.write_text("<!DOCTYPE html>\n<p>mine")
    assert call(*words[:-1], str(mine), cwd=tmp_path).code == 2
    assert mine.read_text().endswith("mine")


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_a_broken_promise_ends_with_1_and_keeps_what_shows_it(
    tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(powerloss, "FAITHFUL", Setting("", controls.no_sync))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = call("torture", "--power-loss", "--images", "40", "--seed", "2", "--json", "--report", "r.html", cwd=tmp_path)
    assert done.code == 1
    assert done.data["ok"] is False
    finding = next(item for item in done.data["findings"] if "kept: " in item["remedy"])
    assert "hardwon torture --power-loss --seed" in finding["remedy"]
    kept = finding["remedy"].split("kept: ")[1]
    with open(os.path.join(kept, "violation.txt"), encoding="utf-8") as file:
        assert "event" in file.read()
    assert os.path.isdir(os.path.join(kept, "image"))
    assert "a promise was broken" in (tmp_path / "r.html").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_a_control_that_shows_nothing_fails_the_run(tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(powerloss, "CONTROLS", (Setting("nothing is wrong"),))
    monkeypatch.setattr(powerloss, "_CONTROL_SEQUENCES", 1)
    done = call("torture", "--power-loss", "--images", "5", "--seed", "2", cwd=tmp_path)
    assert done.code == 1
    assert "the proof has no power" in done.out


@pytest.mark.slow
def test_the_command_leaves_no_folder_behind_and_no_store(tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(powerloss, "CONTROLS", ())
    monkeypatch.setenv("HARDWON_HOME", str(tmp_path / "home"))
    assert call("torture", "--power-loss", "--images", "3", cwd=tmp_path).code == 0
    assert list(tmp_path.iterdir()) == []


def test_images_are_of_power_loss_only(call: Command, tmp_path: Path) -> None:
    for words in (("--images", "5"), ("--faults", "--images", "5"), ("--power-loss", "--kills", "--images", "5"), ("-p", "shop")):
        done = call("torture", *words, "--json", cwd=tmp_path)
        assert done.code == 2
        assert json.loads(done.err.splitlines()[-1])["error"]["field"] in ("images", "project")
