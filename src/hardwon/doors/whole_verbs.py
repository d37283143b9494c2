"""The second half of the table of verbs: those of the store as a whole. Apart, so that the daily ones do not load them."""

from __future__ import annotations

from hardwon.doors.verbs import DRY_RUN, FILTERS, FORCE, FORMATS_IN, FORMATS_OUT, YES, Argument, Option, Verb
from hardwon.settings import VECTOR_INDEXES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_KEY_PLACES = (
    Option("key-file", "Keep the key in this file (a key that is there already is used).", "name", metavar="PATH"),
    Option("keyring", "Keep the key in the system's keyring.", "flag"),
)

_PASSPHRASE = Option(
    "passphrase-file", "The passphrase is the first line of this file (or HARDWON_BACKUP_PASSPHRASE).", "name", metavar="FILE"
)

ROWS: dict[str, Callable[[str], Verb]] = {
    "init": lambda name: Verb(
        name,
        "Make the memory of this repository and read its history.",
        (),
        (
            Option("name", "The name under which -p finds it (default: the repository's).", "name", metavar="NAME"),
            Option("link", "Join this folder, and its remote, to the memory of that name.", "name", metavar="NAME"),
            Option("split", "Give this folder a memory of its own, of that name.", "name", metavar="NAME"),
            Option("limit", "Read at most the newest N commits (default 100000).", "number", metavar="N"),
            Option("no-history", "Leave the history alone; the code is read all the same.", "flag"),
            Option("rebuild", "Make the search index anew, from what is kept and from git.", "flag"),
            Option("encrypt", "Encrypt the store, a new one or the one that is there.", "flag"),
            *_KEY_PLACES,
            FORCE,
            YES,
        ),
        ("hardwon init", "hardwon init --name payments --limit 20000", "hardwon init --link payments", "hardwon init --encrypt"),
        "Reads every commit but merges that is not known yet, newest first, without a model and a network, and then the code. It may be "
        "stopped with Ctrl-C at any time: what was read stays, and the next init goes on. Outside git it makes a memory for the folder. "
        "Where the memory was and is gone, it names the newest backup and begins none in its place without --force.",
    ),
    "ingest": lambda name: Verb(
        name,
        "Read what the repository itself tells: its commits, its documents, its dependencies, its code.",
        (Argument("source", "git, docs, deps or code.", "name"),),
        (Option("limit", "Of git: read at most the newest N commits (default 100000).", "number", metavar="N"), DRY_RUN),
        ("hardwon ingest docs", "hardwon ingest deps --dry-run", "hardwon ingest git", "hardwon ingest code"),
        "Idempotent: what is known is passed over, what changed is read again, what is gone goes. docs: READMEs, CONTRIBUTING, "
        "CHANGELOGs, decision records, docs/, by heading. deps: manifests and lock files of Python, JavaScript, Go, Rust and Java, with "
        "every change of a version; an upgrade that was taken back is a failed attempt. code: symbols and calls; memories "
        "follow their code through it. --dry-run counts, secrets too; of code there is none.",
        "ingest",
    ),
    "import": lambda name: Verb(
        name,
        "Take memories in: an export, a database of cm.py, a memory server's file, Markdown notes.",
        (Argument("file", "A file, a folder of notes, or - for standard input.", "name"),),
        (
            Option("format", "What it is, where that is not to be guessed.", choices=FORMATS_IN, metavar="FORMAT"),
            Option("only", "Of a database: only this project; may be repeated.", "name", many=True, metavar="PROJECT"),
            Option(
                "project-map",
                "Of a database: its project OLD goes to the memory NAME; may be repeated.",
                "name",
                many=True,
                metavar="OLD=NAME",
            ),
            Option("keep-trust", "Believe what it says of itself; only for a person.", "flag"),
            DRY_RUN,
        ),
        (
            "hardwon import memories.jsonl",
            "hardwon import code_memory.db --project-map shop=payments",
            "hardwon import notes/ --dry-run",
        ),
        "Idempotent. What comes in is imported, and not shown unasked until a person approves it. What cannot be used is listed by line, "
        "and the rest goes in; then it exits with 1.",
        "exchange",
    ),
    "export": lambda name: Verb(
        name,
        "Write memories to a file, or to standard output: what people and agents recorded, with versions and occurrences.",
        (Argument("file", "The file; - or none for standard output.", "name", required=False),),
        (
            Option("format", "What to write (default jsonl).", choices=FORMATS_OUT, metavar="FORMAT"),
            Option("private", "Private memories too.", "flag"),
            *FILTERS,
            FORCE,
        ),
        ("hardwon export memories.jsonl", "hardwon export --kind decision --format markdown", "hardwon export - --since 30d"),
        "Commits, documents and facts on dependencies are not written, for they can be read from the repository again; what was done to "
        "them is. The file appears whole "
        "or not at all. It refuses to replace memories by nothing, or a file that is no export, without --force.",
        "exchange",
    ),
    "reembed": lambda name: Verb(
        name,
        "Make the vectors that are missing, for `recall --vectors`.",
        (),
        (
            Option("history", "Also of commits and documents: some 14 CPU minutes for 10,000.", "flag"),
            Option("limit", "At most this many now.", "number", metavar="N"),
        ),
        ("hardwon reembed", "hardwon reembed --history --limit 5000"),
        "Newest first; Ctrl-C keeps what is done, the next run goes on. Needs the extra `vectors`.",
        "upkeep",
    ),
    "compact": lambda name: Verb(
        name,
        "Give back the space of what is gone.",
        (),
        (Option("full", "Write the whole file anew, which gives back somewhat more; other writers wait meanwhile.", "flag"),),
        ("hardwon compact", "hardwon compact --full"),
        "Works in slices of some milliseconds, between which others write; readers notice nothing. Ctrl-C keeps what is done.",
        "upkeep",
    ),
    "rekey": lambda name: Verb(
        name,
        "Encrypt the store with another key, or with none.",
        (),
        (*_KEY_PLACES, Option("decrypt", "With none: the store is in the clear afterwards.", "flag"), YES),
        ("hardwon rekey", "hardwon rekey --keyring", "hardwon rekey --key-file /media/stick/hardwon.key"),
        "Writes the whole store anew while other writers wait; readers notice nothing. May be killed at any point: the store opens with "
        "the old key or the new one, by itself, and the next rekey finishes. The old key is kept, since earlier backups need it.",
        "encryption",
    ),
    "bench": lambda name: Verb(
        name,
        "Measure ways to search vectors on this very memory, each against the exact one.",
        (Argument("what", "vectors.", "name"),),
        (
            Option(
                "mode",
                "An index to measure (default flat and signs); may be repeated.",
                choices=VECTOR_INDEXES,
                many=True,
                metavar="MODE",
            ),
            Option("k", "How many hits are compared (default 10).", "number", short="k", metavar="N"),
            Option("queries", "How many questions are asked (default 100).", "number", metavar="N"),
            Option("seed", "Which ones (default 1).", "number", metavar="N"),
        ),
        ("hardwon bench vectors", "hardwon bench vectors --mode signs --mode srvdb:hnsw"),
        "Tells of each: the share of the exact hits that it found, milliseconds, seconds to build, size on the disk.",
        "bench",
    ),
    "status": lambda name: Verb(
        name,
        "Which memory this folder uses, why, how large it is, and whether it is well.",
        (),
        (),
        ("hardwon status", "hardwon status --json"),
    ),
    "verify": lambda name: Verb(
        name,
        "Check the store: file, index, journal, every row. Never writes, unless secrets are to be taken out.",
        (),
        (
            Option("secrets", "Look for secrets in all that is stored, by the rules of today.", "flag"),
            Option("redact", "With --secrets: take them out for good, after a yes.", "flag"),
            YES,
        ),
        ("hardwon verify", "hardwon verify --secrets", "hardwon verify --secrets --redact"),
        "Exits with 1 when something is wrong. On a large store this takes seconds to minutes.",
        "upkeep",
    ),
    "backup": lambda name: Verb(
        name,
        "Copy the whole memory into one file, while others write, and check the copy.",
        (Argument("file", "The file; none for the next of those below HARDWON_HOME/backups.", "name", required=False),),
        (
            Option("keep", "Without FILE: how many of the newest stay (default 7).", "number", metavar="N"),
            Option("encrypt", "Encrypt it for this age recipient; may be repeated.", "name", many=True, metavar="RECIPIENT"),
            _PASSPHRASE,
            Option("force", "Replace a file that is no backup of ours.", "flag"),
        ),
        (
            "hardwon backup",
            "hardwon backup /media/disk/shop.db",
            "hardwon backup shop.age --passphrase-file ~/.config/backup-passphrase",
        ),
        "The file appears once it was synced, and another process has opened it, checked every row and searched it; or not at all. The "
        "backup of an encrypted store is encrypted with the same key.",
        "backup",
    ),
    "restore": lambda name: Verb(
        name,
        "Put a backup into the store's place; the store that was there is kept.",
        (Argument("file", "A backup: its path, or the name of one below HARDWON_HOME/backups.", "name"),),
        (
            Option("keep-newer", "Take over the memories that the store has and the backup lacks.", "flag"),
            Option("identity", "The file of the key that it was encrypted for.", "name", metavar="FILE"),
            _PASSPHRASE,
            Option("force", "Also one of another repository, or of this one when it was registered anew.", "flag"),
            DRY_RUN,
            YES,
        ),
        ("hardwon restore 20261130T014007.123Z.db --dry-run", "hardwon restore /media/disk/shop.db --keep-newer"),
        "The backup is checked before anything is changed, and another process has opened and searched the store in its place before it "
        "counts as done. --dry-run says what is newer than the backup.",
        "backup",
    ),
    "repair": lambda name: Verb(
        name,
        "Make a damaged store whole: keep what is intact, name what is lost.",
        (),
        (DRY_RUN,),
        ("hardwon repair --dry-run", "hardwon repair"),
        "Works on a copy, which takes the place once another process has opened it, checked every row and searched it; the damaged file is "
        "kept. Does nothing where nothing is damaged. Writers wait meanwhile. Exits with 1 when memories or changes are lost.",
        "backup",
    ),
    "torture": lambda name: Verb(
        name,
        "Prove on this machine that what was acknowledged survives: power loss, faults, kills, clocks.",
        (),
        (
            Option("power-loss", "Simulated power loss at every write, sync and rename.", "flag"),
            Option("faults", "Failing system calls: full disk, I/O error, no memory.", "flag"),
            Option("kills", "Writers that are killed at random.", "flag"),
            Option("clock", "Clocks that jump.", "flag"),
            Option("seconds", "How long, shared equally by the kinds (default 60).", "number", metavar="N"),
            Option("images", "Of --power-loss: so many disk images instead.", "number", metavar="N"),
            Option("seed", "Which steps (default: a random one, which is printed first).", "number", metavar="S"),
            Option("report", "Write an HTML report as well; FILE ends in .html.", "name", metavar="FILE"),
        ),
        (
            "hardwon torture",
            "hardwon torture --power-loss --images 25000 --report loss.html",
            "hardwon torture --kills --seed 7 --json",
        ),
        "Works anywhere, on stores of its own in a temporary folder, never on yours. All kinds without a flag. Exits with 1 when a promise "
        "was broken, or when the controls, which break it on purpose, show nothing.",
        "torture",
    ),
}
