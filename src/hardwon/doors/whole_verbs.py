"""The second half of the table of verbs: those of the store as a whole. Apart, so that the daily ones do not load them."""

from __future__ import annotations

from hardwon.agents.table import CLIENTS
from hardwon.doors.verbs import DRY_RUN, FILTERS, FORCE, FORMATS_IN, FORMATS_OUT, TRANSCRIPTS, YES, Argument, Option, Verb
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

_WHERE = Option("scope", "The files of the user, or those of this project.", choices=("user", "project"), metavar="SCOPE")

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
        "Read what the repository itself tells: its commits, documents, dependencies, code; and how its tests went.",
        (
            Argument("source", "git, docs, deps, code, prs, junit, log, transcripts, notes or shared.", "name"),
            Argument(
                "file",
                "Of junit: reports, or folders with reports. Of log: a log. - reads standard input. Of transcripts: files.",
                required=False,
                many=True,
            ),
        ),
        (
            Option(
                "limit",
                "Of git: read at most the newest N commits (default 100000). Of prs: requests (200).",
                "number",
                metavar="N",
            ),
            Option("commit", "Of junit and log: the commit on which the tests ran.", "name", metavar="SHA"),
            Option(
                "client",
                "Of transcripts: only those of this client; may be repeated.",
                choices=TRANSCRIPTS,
                many=True,
                metavar="NAME",
            ),
            Option(
                "since", "Of transcripts: only sessions since: an age (30d) or a date (2026-01-31).", "moment", metavar="TIME"
            ),
            Option("job", "Of junit and log: which of several jobs that run the same tests elsewhere.", "name", metavar="NAME"),
            DRY_RUN,
        ),
        (
            "hardwon ingest docs",
            "hardwon ingest deps --dry-run",
            "hardwon ingest git",
            "hardwon ingest code",
            "hardwon ingest prs",
            "hardwon ingest junit report.xml --commit 4f1e2a9c --job linux",
            "hardwon ingest log build.log",
            "hardwon ingest transcripts --dry-run",
            "hardwon ingest transcripts --client claude-code --since 30d",
            "hardwon ingest notes",
        ),
        "Idempotent: what is known is passed over, what changed is read again, what is gone goes. docs: READMEs, CONTRIBUTING, "
        "CHANGELOGs, decision records, docs/, by heading. deps: manifests and lock files of Python, JavaScript, Go, Rust and Java, with "
        "every change of a version; an upgrade that was taken back is a failed attempt. code: symbols and calls; memories "
        "follow their code through it. prs: what was said in merged pull requests, through `gh` or `glab` where they are there. junit: how "
        "tests went, in the XML of any runner. log: of GitHub Actions, GitLab or any other job. transcripts: what agents' clients wrote of "
        "their sessions in this repository; see docs/transcripts.md. notes: what Claude Code noted of this repository by itself. "
        "shared: what others put into .hardwon/memories/ (`hardwon share`). --dry-run counts, "
        "secrets too; of code, prs, junit and log there is none.",
        "ingest",
    ),
    "run": lambda name: Verb(
        name,
        "Run a command and record how its tests went; say what is known of what failed.",
        (Argument("command", "The command, after --.", many=True),),
        (
            Option("junit", "The report in JUnit's XML that the command writes.", "name", metavar="FILE"),
            Option("job", "Which of several surroundings that run the same tests.", "name", metavar="NAME"),
        ),
        ("hardwon run -- pytest -q", "hardwon run --junit report.xml -- mvn test", "hardwon run --job py312 -- tox -e py312"),
        "The command gets the terminal, the input and the signals; its exit code is passed on. Nothing is printed unless the same failure "
        "was met before. With --json what the command prints goes to standard error, and the answer to standard output.",
        "run",
    ),
    "refresh": lambda name: Verb(
        name,
        "Bring the memory up to date with the repository: new commits, what became of the old ones, the code, the branches.",
        (),
        (
            Option("limit", "Read at most the newest N commits (default 100000).", "number", metavar="N"),
            Option("background", "Return at once, and do it in a process of its own that ends by itself.", "flag"),
        ),
        ("hardwon refresh", "hardwon refresh --background"),
        "What git's hooks call (`hardwon install git`), and what a session starts when the memory is behind. One process at a time; in the "
        "background it is gone after ten minutes, and the next one goes on. `hardwon status` tells if it failed.",
        "refresh",
    ),
    "import": lambda name: Verb(
        name,
        "Take memories in: an export, Markdown notes, and what other tools keep.",
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
            "hardwon import ~/.claude-mem/claude-mem.db --only shop",
        ),
        "Known by what it holds: our own exports, databases of cm.py and claude-mem, files of the reference memory server, mem0, beads and "
        "MIF 2.0, Markdown notes (ours, basic-memory's, Obsidian's, clients' own memory folders). Idempotent. What comes in is imported, "
        "and not shown unasked until a person approves it. What cannot be used is listed by line, and the rest goes in; then it exits "
        "with 1.",
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
        "or not at all. It refuses to replace memories by nothing, or a file that is no export, without --force. agents-md writes a "
        "marked passage of rules, decisions and lessons into a file such as AGENTS.md, and leaves the rest of it as it is.",
        "exchange",
    ),
    "share": lambda name: Verb(
        name,
        "Put what is confirmed into files of the repository, for everybody who clones it.",
        (Argument("id", "Only these memories; without any, all that are confirmed.", "name", required=False, many=True),),
        (DRY_RUN, *FILTERS),
        ("hardwon share --dry-run", "hardwon share 12 15", "hardwon share --kind rule --kind decision"),
        "One file a memory in .hardwon/memories/, so that branches merge; the same memory makes the same file everywhere. Private memories "
        "never, nor what an agent only claims. A memory that was forgotten, rejected or replaced here loses its file; a file that is "
        "not known here stays. Others take them in with `hardwon ingest shared`, and `hardwon init` does: imported, until approved there.",
        "sharing",
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
    "install": lambda name: Verb(
        name,
        "Wire Hardwon into a coding agent: its hooks, its tools, a skill; or into git's hooks.",
        (Argument("client", "Which one: " + ", ".join(CLIENTS) + ", or git.", "name", required=False),),
        (
            _WHERE,
            Option("all", "Every client that is found on this machine.", "flag"),
            Option(
                "write-plugin",
                "Write the plugin, extension, server and feature files into this folder instead.",
                "name",
                metavar="DIR",
            ),
            DRY_RUN,
            YES,
        ),
        (
            "hardwon install claude-code",
            "hardwon install codex --dry-run",
            "hardwon install cursor --scope project --yes",
            "hardwon install --all",
            "hardwon install git",
            "hardwon install --write-plugin hardwon-plugin",
        ),
        "Shows the difference and asks; nothing else in the files is touched, comments and line ends included. Twice is once. `hardwon "
        "uninstall` gives back each file as it was. In scope user the program is named by its absolute path, in scope project by its "
        "name, since colleagues share those files.",
        "wiring",
    ),
    "uninstall": lambda name: Verb(
        name,
        "Take Hardwon out of a coding agent again, or out of git's hooks.",
        (Argument("client", "Which one; as for install.", "name", required=False),),
        (_WHERE, Option("all", "Every client.", "flag"), DRY_RUN, YES),
        ("hardwon uninstall claude-code", "hardwon uninstall --all --yes", "hardwon uninstall git"),
        "Of the user and of this project, unless --scope says one of them. What is still as we left it becomes what it was, to the byte; "
        "from what was edited since, only ours goes. Memories stay.",
        "wiring",
    ),
    "doctor": lambda name: Verb(
        name,
        "Look for what keeps Hardwon from working in the agents: hooks that never ran, a program that moved, doubled hooks.",
        (),
        (),
        ("hardwon doctor", "hardwon doctor --json"),
        "Looks at the clients' files, at when each last called, at the store and its engine, and starts the server of tools once. Changes "
        "nothing. Exits with 1 where something is an error.",
        "doctor",
    ),
}
