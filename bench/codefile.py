"""The file of the code index: bytes, CPU time to fill it, to bring it up to date, to ask it, and what it adds to a command.

The outlines are invented (seeded; names as frequent as in code), or those of a clone's files. Times are CPU time of this process, medians
where something is done several times; a command's are those of a process of its own.

Examples::

    python bench/codefile.py --files 5000
    python bench/codefile.py --clone /path/to/repository --encrypted
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from common import machine, median, report, run, say, table, write_json
from hardwon.code.outline import Call, Import, Outline, Symbol
from hardwon.digest import git_blob
from hardwon.store.code.codefile import CodeIndex
from hardwon.store.connection import PLAIN, Access

TREE = "bench"
_BATCH = 250
_SYMBOLS, _CALLS, _IMPORTS = 20, 100, 10  # of an invented file
_ROUNDS = 15
_BARE = "pass"
_STORE = "from hardwon.store.sqlite import SqliteStore\nstore = SqliteStore({store!r}, make=False)\nwith store.read(): pass\n"
_INDEX = (
    "from hardwon.store.code.codefile import CodeIndex\nwith CodeIndex({path!r}, lambda: store.access).read({tree!r}) as reader:\n"
    "    reader.symbols({blob!r}); reader.named({name!r})\n"
)

Files = list[tuple[str, str, Outline]]  # path, blob, outline


def invented(files: int, seed: int) -> Iterator[tuple[str, str, Outline]]:
    """Files of classes with methods, calls of few names often and of many seldom."""
    dice = random.Random(seed)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz_", k=dice.randint(3, 14))) for _ in range(12 * files)]

    def common() -> str:
        return words[min(int(dice.paretovariate(0.6)), len(words)) - 1]

    for number in range(files):
        owner = dice.choice(words).title()
        symbols = tuple(_symbol(dice, owner, dice.choice(words), common, 20 * place + 1) for place in range(_SYMBOLS))
        receivers = ("", "self", f"self.{common()}", common())
        calls = tuple(
            Call(dice.choice(symbols).qualified, common(), dice.choice(receivers), dice.randint(1, 400)) for _ in range(_CALLS)
        )
        imports = tuple(Import(f"{dice.choice(words)}.{common()}", common(), "", line) for line in range(1, _IMPORTS + 1))
        outline = Outline("python", lines=400, symbols=symbols, calls=calls, imports=imports)
        yield f"src/{owner[:3].lower()}/{owner.lower()}_{number}.py", f"{dice.getrandbits(160):040x}", outline


def _symbol(dice: random.Random, owner: str, name: str, common: Callable[[], str], line: int) -> Symbol:
    signature = f"def {name}(self, {common()}: {common()}, {common()}) -> {common()}:"
    doc = " ".join(common() for _ in range(dice.randint(0, 12)))
    return Symbol(
        f"{owner}.{name}", "method", line, line + 18, signature[:200], doc[:200], f"{dice.getrandbits(64):016x}",
        dice.randint(5, 300), dice.getrandbits(32), 18, dice.randbytes(8),
    )  # fmt: skip


def cloned(folder: str) -> tuple[Files, float, int]:
    """The outlines of a clone's files, CPU seconds of making them, and the bytes of the files."""
    from hardwon.code.symbols import outline

    listed = subprocess.run(["git", "ls-files", "-z"], cwd=folder, capture_output=True, check=True).stdout.decode().split("\0")
    found, size, begun = [], 0, time.process_time()
    for path in filter(None, listed):
        full = os.path.join(folder, path)
        if os.path.isfile(full) and not os.path.islink(full):
            with open(full, "rb") as file:
                content = file.read()
            made = outline(path, content)
            size += 0 if made.skipped else len(content)
            found.append((path, git_blob(content), made))
    return found, time.process_time() - begun, size


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of something."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def fill(index: CodeIndex, files: Files) -> None:
    """All of it, as a first index does."""
    for start in range(0, len(files), _BATCH):
        with index.write(TREE) as writer:
            for _, blob, outline in files[start : start + _BATCH]:
                writer.add(blob, outline)
    with index.write(TREE) as writer:
        writer.set_files({path: blob for path, blob, _ in files}, "0", 1)


def refresh(index: CodeIndex, files: dict[str, str], changed: Files) -> None:
    """As after a commit of some files."""
    with index.read(TREE) as reader:
        reader.known(files.values())
        reader.files()
    with index.write(TREE) as writer:
        for path, blob, outline in changed:
            writer.add(blob, outline)
            files[path] = blob
    with index.write(TREE) as writer:
        writer.set_files(files, "1", 1)
    with index.write(TREE) as writer:
        writer.prune(())


def refreshes(index: CodeIndex, files: Files, dice: random.Random) -> float:
    """Milliseconds of the store's part after a commit of ten files."""
    held, times = {path: blob for path, blob, _ in files}, []
    for _ in range(_ROUNDS):
        changed = [
            (path, f"{dice.getrandbits(160):040x}", outline) for path, _, outline in dice.sample(files, min(10, len(files)))
        ]
        times.append(1000 * cpu(lambda changed=changed: refresh(index, held, changed)))
    return median(times)


def questions(index: CodeIndex, files: Files, dice: random.Random) -> Iterator[tuple[str, float]]:
    """Milliseconds a question."""
    some = [one for one in files if one[2].symbols and one[2].calls] or files
    with index.read(TREE) as reader:
        names = [dice.choice(outline.symbols).name for _, _, outline in dice.choices(some, k=300)]
        calls = [dice.choice(outline.calls).name for _, _, outline in dice.choices(some, k=300)]
        blobs = [reader.blob_at(path) for path, _, _ in dice.choices(some, k=300)]
        paths = [path for path, _, _ in dice.choices(some, k=300)]
        for name, ask, words in (
            ("`symbols` of a blob", reader.symbols, blobs), ("`named`", reader.named, names), ("`calls_to`", reader.calls_to, calls),
            ("`calls_in`", reader.calls_in, paths), ("`ending`", reader.ending, paths),
        ):  # fmt: skip
            yield name, 1000 * cpu(lambda ask=ask, words=words: [ask(word) for word in words]) / len(words)


def commands(folder: str, index: CodeIndex, files: Files) -> Iterator[tuple[str, float]]:
    """CPU milliseconds of processes: a bare one, one that opens a store, one that asks the index besides."""
    from hardwon.store.sqlite import SqliteStore

    store = os.path.join(folder, "store.db")
    with SqliteStore(store) as made, made.write():
        pass
    _, blob, outline = next(one for one in files if one[2].symbols)
    opened = _STORE.format(store=store)
    asked = opened + _INDEX.format(path=index.path, tree=TREE, blob=blob, name=outline.symbols[0].name)
    for name, code in (("a bare interpreter", _BARE), ("… and a store", opened), ("… and the index, two questions", asked)):
        yield name, 1000 * median([run([sys.executable, "-c", code]).cpu for _ in range(_ROUNDS)])


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--clone")
    parser.add_argument("--encrypted", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json")
    options = parser.parse_args()
    files, parsing, size = cloned(options.clone) if options.clone else (list(invented(options.files, options.seed)), 0.0, 0)
    say(f"{len(files)} files, load {machine()['load']}")
    access = Access(key=b"k" * 32, recipient="age1") if options.encrypted else PLAIN
    rows: list[tuple[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        index = CodeIndex(os.path.join(folder, "store.db.code"), lambda: access)
        dice = random.Random(options.seed)
        if size:
            rows += [("bytes of code", f"{size:,}"), ("making the outlines, s", round(parsing, 2))]
        rows.append(("filling, s", round(cpu(lambda: fill(index, files)), 2)))
        with index.read(TREE) as reader:
            rows += [(name, f"{count:,}") for name, count in reader.figures().items()]
        rows += [(f"{name}, ms", round(ms, 3)) for name, ms in questions(index, files, dice)]
        if not options.encrypted:
            rows += [(f"{name}, ms", round(ms, 1)) for name, ms in commands(folder, index, files)]
        rows.append(("after a commit of 10 files, ms", round(refreshes(index, files, dice), 1)))
        rows.append(("reading all of it (`verify`), ms", round(1000 * cpu(index.check), 1)))
        rows.append(("writing it anew (after an erasure), ms", round(1000 * cpu(index.scrub), 1)))
    print(table(("", ""), rows))
    write_json(options.json, report("codefile", options.seed, (), dict(rows)))


if __name__ == "__main__":
    main()
