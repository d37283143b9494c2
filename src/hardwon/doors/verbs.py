"""The table of verbs: command line, help, completion and docs are made from it, and later MCP and REST.

A row says what a verb is called, what it takes, what it is for, and which module of this room has the function of its name.
"""

from __future__ import annotations

from hardwon.types import KINDS, LINKS, OUTCOMES, REASONS, STATUSES, TRUSTS, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    VERBS: tuple[Verb, ...]
    BY_NAME: dict[str, Verb]

    Form = Literal["text", "name", "number", "flag", "age", "moment"]


class Option(Value):
    """``--name`` of a verb. ``form``: text, name (one line without control characters), number, age (``30d``, ``12h``, ``2w``),
    moment (an age, or a date such as 2026-01-31) or flag; ``many``: may be given repeatedly."""

    name: str
    help: str
    form: Form = "text"
    short: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    many: bool = False


class Argument(Value):
    """A word after the verb. ``form``: text or name; ``many``: takes all that follow; ``joined``: those are one text."""

    name: str
    help: str
    form: Form = "text"
    required: bool = True
    many: bool = False
    joined: bool = False


class Verb(Value):
    """One row. ``about`` is what the help page says besides; ``module`` the one of this room whose function of the same name
    handles it (``import_`` for a name that Python keeps)."""

    name: str
    summary: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    about: str = ""
    module: str = "handle"


JSON = Option("json", "Print JSON, also for errors (on standard error).", "flag")
PROJECT = Option("project", "A registered repository, instead of the one of this folder.", "name", short="p", metavar="NAME")
FOLDER = Option("folder", "Work as if started in PATH.", short="C", metavar="PATH")
GLOBALS = (JSON, PROJECT, FOLDER)

_FILE = Option("file", "The file concerned; any spelling, stored relative to the repository.", "name", metavar="PATH")
_SYMBOL = Option("symbol", "The function, method or class concerned, such as AuthService.validate.", "name", metavar="NAME")
_DETAIL = Option("detail", "Context for the lesson: what to do instead.", short="d", metavar="TEXT")
_SESSION = Option("session", "The session that this belongs to.", "name", metavar="ID")
_TAG = Option("tag", "A tag; may be repeated.", "name", many=True, metavar="TAG")
_BUDGET = Option("budget", "Most tokens of the block.", "number", metavar="TOKENS")
_EXIT = Option("exit-code", "Exit with 3 when nothing was found.", "flag")
YES = Option("yes", "Do it without asking.", "flag", short="y")
_ID = Argument("id", "A number (#12 or 12), an id, a commit of 7 digits and more, or another name of the memory.", "name")
FORCE = Option("force", "Do it although something is lost by it.", "flag")
DRY_RUN = Option("dry-run", "Say what would be done, and do nothing.", "flag")
_NEW_WORDS = (
    Option("text", "The new text.", metavar="TEXT"),
    Option("detail", "The new detail.", short="d", metavar="TEXT"),
    Option("because", "The new reason.", metavar="TEXT"),
    Option("rejected", "The alternatives that were turned down; may be repeated, replaces the old ones.", many=True, metavar="TEXT"),
    Option("tag", "The tags; may be repeated, replaces the old ones.", "name", many=True, metavar="TAG"),
    Option("code", "The new snippet, from a file or from standard input.", metavar="FILE|-"),
    _FILE,
    _SYMBOL,
    Option("expires", "Forget to mention it after this time.", "age", metavar="AGE"),
)  # fmt: skip
FORMATS_IN = ("jsonl", "cm", "server-memory", "markdown", "mif", "claude-mem", "mem0", "beads")
TRANSCRIPTS = ("claude-code", "codex", "gemini", "opencode", "transcript")
FORMATS_OUT = ("jsonl", "markdown", "server-memory", "mif", "agents-md")
# What narrows a question or an export. Values of one option are alternatives, but of --tag all have to be there.
FILTERS = (
    Option("kind", "Only memories of this kind; may be repeated.", choices=KINDS, many=True, metavar="KIND"),
    Option("outcome", "Only memories that ended so; may be repeated.", choices=OUTCOMES, many=True, metavar="OUTCOME"),
    Option("status", "Only memories of this status (default active); may be repeated.", choices=STATUSES, many=True, metavar="STATUS"),
    Option("trust", "Only memories that are believed so far; may be repeated.", choices=TRUSTS, many=True, metavar="TRUST"),
    Option("tag", "Only memories with this tag; of several, with all.", "name", many=True, metavar="TAG"),
    Option("branch", "Only memories of this branch; may be repeated.", "name", many=True, metavar="BRANCH"),
    Option("ext", "Only memories about files with this extension; may be repeated.", "name", many=True, metavar="EXT"),
    Option("path", "Only memories about this file, or files below this folder; may be repeated.", "name", many=True, metavar="PATH"),
    Option("author", "Only memories whose author's name contains this; may be repeated.", "name", many=True, metavar="NAME"),
    Option("since", "Only memories made since: an age (30d) or a date (2026-01-31).", "moment", metavar="TIME"),
    Option("until", "Only memories made before: an age (30d) or a date (2026-01-31).", "moment", metavar="TIME"),
)  # fmt: skip

# Each row is made when it is asked for: all of them would cost every command half a millisecond. Those of single memories are here, those
# of the store as a whole in whole_verbs.py.
_ROWS: dict[str, Callable[[str], Verb]] = {
    "record": lambda name: Verb(
        name,
        "Keep a memory: a decision, rule, fact, attempt, how-to.",
        (Argument("text", "What to remember; - reads standard input.", many=True, joined=True),),
        (
            Option(
                "kind", "What it is (default fact).", choices=tuple(kind for kind in KINDS if kind != "change"), metavar="KIND"
            ),
            Option("outcome", "How it ended.", choices=OUTCOMES, metavar="OUTCOME"),
            _FILE,
            _SYMBOL,
            _DETAIL,
            Option("code", "A snippet, from a file or from standard input.", metavar="FILE|-"),
            _TAG,
            Option("because", "The reason of a decision.", metavar="TEXT"),
            Option("rejected", "An alternative that was turned down; may be repeated.", many=True, metavar="TEXT"),
            Option("expires", "Forget to mention it after this time.", "age", metavar="AGE"),
            Option("private", "Marked private: no export and no sharing carries it without a flag.", "flag"),
            _SESSION,
        ),
        (
            'hardwon record --kind decision "Sessions live in Redis" --because "cookies were too large" --rejected "JWT in a cookie"',
            'hardwon record --kind rule "Run the migrations before the tests" --tag ci',
            'hardwon record --kind attempt --outcome failed "Pooling connections per request" --file src/db.py --symbol Pool.get',
        ),
    ),
    "fail": lambda name: Verb(
        name,
        "Record that something went wrong on a symbol, and what it taught.",
        (Argument("symbol", "The function, method or class.", "name"), Argument("lesson", "What went wrong, in one line.")),
        (_DETAIL, _FILE, _SESSION),
        ('hardwon fail AuthService.validate "JWT expiry not handled" --file auth/service.py -d "check refresh_token first"',),
    ),
    "ok": lambda name: Verb(
        name,
        "Record that something worked on a symbol.",
        (
            Argument("symbol", "The function, method or class.", "name"),
            Argument("lesson", "What worked, in one line.", required=False),
        ),
        (_DETAIL, _FILE, _SESSION),
        ('hardwon ok AuthService.validate "normalising to UTC fixed it" --file auth/service.py', "hardwon ok Payment.process"),
    ),
    "query": lambda name: Verb(
        name,
        "Lessons and risk of a symbol; without a symbol, the riskiest ones.",
        (Argument("symbol", "The symbol, or a part of its name.", "name", required=False),),
        (
            _FILE,
            Option("top", "How many risky symbols to show (default 10).", "number", metavar="N"),
            Option("all", "Also resolved and inactive lessons.", "flag"),
            Option("inject", "Only the block for a prompt, and only at risk 10 and more.", "flag"),
            _EXIT,
        ),
        ("hardwon query AuthService.validate", "hardwon query --top 5", "hardwon query Payment.process --inject"),
        module="symbols",
    ),
    "resolve": lambda name: Verb(
        name, "Mark a lesson as resolved: it no longer counts for risk.", (_ID,), (), ("hardwon resolve 12",)
    ),
    "deactivate": lambda name: Verb(
        name, "Mark a lesson as inactive: it no longer counts for risk.", (_ID,), (), ("hardwon deactivate 12",)
    ),
    "stats": lambda name: Verb(
        name,
        "A summary of what is kept, or of one symbol.",
        (Argument("symbol", "The symbol, or a part of its name.", "name", required=False),),
        (
            _FILE,
            Option("top", "How many risky symbols to show (default 10).", "number", metavar="N"),
            Option(
                "flaky", "The tests that were seen to fail and to pass on the same files, with what mended them before.", "flag"
            ),
        ),
        ("hardwon stats", "hardwon stats AuthService", "hardwon stats --flaky --json"),
        module="symbols",
    ),
    "recall": lambda name: Verb(
        name,
        "What is remembered about a task or a question, best first.",
        (Argument("task", "The question or task, in words; - reads standard input.", required=False, many=True, joined=True),),
        (
            _FILE,
            _SYMBOL,
            Option(
                "error", "A log with a stack trace: what was learnt about that failure and its places.", "name", metavar="FILE|-"
            ),
            *FILTERS,
            Option("all-branches", "Also memories of branches that are not part of what is checked out.", "flag"),
            Option("k", "At most this many (default 10).", "number", short="k", metavar="N"),
            Option("vectors", "Ask by meaning as well; needs the extra `vectors`, and half a second to load the model.", "flag"),
            _BUDGET,
            Option("block", "Print the block for a prompt instead of a list.", "flag"),
            Option(
                "unasked",
                "For a program that adds it to every prompt: only what may be said unasked, each memory once in HARDWON_SESSION.",
                "flag",
            ),
            Option("explain", "Show what made up each score.", "flag"),
            _EXIT,
        ),
        (
            'hardwon recall "why do we retry uploads twice?"',
            'hardwon recall "connection pool exhausted" --file src/db.py --explain',
            'hardwon recall "flaky login test" --kind lesson --kind attempt --json',
            'hardwon recall "upload" --path src/net --ext py --author ann --since 2025-01-01',
            "hardwon recall --kind decision --since 90d",
            "hardwon recall --error build.log",
        ),
        "An empty answer is an answer: nothing here reaches the floor. Scores are probabilities of being relevant. Filters are exact "
        "and may be combined; a tag, branch, extension, path or author that nothing has is an error that lists what there is. "
        "`pytest 2>&1 | hardwon recall --error -` asks about what just failed. Without "
        "a task the newest that the filters let through are listed.",
    ),
    "before": lambda name: Verb(
        name,
        "The lessons of a file, symbol, lines or change that is about to be made.",
        (),
        (
            _FILE,
            _SYMBOL,
            Option("lines", "The lines of the file that are edited: A-B, or A for one.", "name", metavar="A-B"),
            Option("diff", "A unified diff: the lessons of all that it touches.", "name", metavar="FILE|-"),
            _BUDGET,
            _EXIT,
        ),
        (
            "hardwon before --file auth/service.py --symbol AuthService.validate",
            "hardwon before --file lib/url.c --lines 120-180",
            "hardwon before --diff change.patch",
        ),
        "Failures first, then those of the callers. What moved, changed or is gone is marked. `git diff | hardwon before --diff -` is the "
        "review of what is not committed yet. Prints nothing when nothing applies.",
        "places",
    ),
    "explain": lambda name: Verb(
        name,
        "The decisions behind a place: who made its lines, why, what became of that, what was recorded about it.",
        (Argument("place", "FILE, FILE:LINE or FILE:FIRST-LAST.", "name"),),
        (_BUDGET, _EXIT),
        ("hardwon explain auth/service.py:42", "hardwon explain lib/url.c:120-180", "hardwon explain src/db.py --json"),
        "Asks git for the history of the lines, through renames and moves. First the commits that made them, then earlier ones of the "
        "same line, then what was recorded about the symbol and the file.",
        "explain",
    ),
    "brief": lambda name: Verb(
        name,
        "What a session should know at its start.",
        (),
        (_BUDGET, _EXIT),
        ("hardwon brief",),
        "Rules that hold, open attempts, what the last run left, risky symbols, changes that were taken back. At most 6,000 characters.",
    ),
    "show": lambda name: Verb(
        name, "One memory in full, with its occurrences and links.", (_ID,), (), ("hardwon show 12", "hardwon show 4f1e2a9c")
    ),
    "history": lambda name: Verb(name, "How a memory came to be what it is.", (_ID,), (), ("hardwon history 12",)),
    "forget": lambda name: Verb(
        name,
        "Forget memories; `undo` brings them back.",
        (Argument("id", _ID.help, "name", required=False, many=True),),
        (
            Option("session", "Everything that this session wrote.", "name", metavar="ID"),
            Option("source", "Everything that this client wrote, such as claude-code.", "name", metavar="CLIENT"),
            Option("tag", "Everything with this tag; may be repeated.", "name", many=True, metavar="TAG"),
            Option("older-than", "Everything made longer ago than this; combines with the others.", "age", metavar="AGE"),
            Option("erase", "For good: out of every file, whatever their status; only for a person.", "flag"),
            Option("reason", "Why it is erased (default other).", choices=REASONS, metavar="CODE"),
            Option("dry-run", "Say what would be forgotten, and do nothing.", "flag"),
            YES,
        ),
        (
            "hardwon forget 12 --yes",
            "hardwon forget --session 8f2c --dry-run",
            "hardwon forget --tag spike --older-than 30d",
            "hardwon forget 12 --erase --reason personal",
        ),
        "With --erase nothing of them is left, and nothing that says the same comes in again. It cannot be undone.",
    ),
    "undo": lambda name: Verb(
        name,
        "Take back the last change of a memory, or the last thing that you did.",
        (Argument("id", _ID.help, "name", required=False),),
        (),
        ("hardwon undo 12", "hardwon undo"),
        "Takes back resolve, deactivate, forget, revise, link, approve, reject, useful and useless, one after the other. Without ID it "
        "takes back your own last stroke: a forgetting of many comes back as a whole.",
    ),
    "revise": lambda name: Verb(
        name,
        "Change the words of a memory; the old ones stay as a version.",
        (_ID, Argument("words", "The new text; - reads standard input.", required=False, many=True, joined=True)),
        tuple(option for option in _NEW_WORDS if option.name != "text"),
        (
            'hardwon revise 12 "Sessions live in Valkey" --because "the licence changed"',
            "hardwon revise 12 --tag auth --tag storage",
        ),
        "An agent may revise what agents claimed, not what a person confirmed.",
        "curate",
    ),
    "diff": lambda name: Verb(
        name,
        "What changed between two versions of a memory.",
        (_ID,),
        (
            Option("from", "The older version (default: the last but one).", "number", metavar="N"),
            Option("to", "The newer version (default: the last).", "number", metavar="N"),
        ),
        ("hardwon diff 12", "hardwon diff 12 --from 1 --to 3"),
        module="curate",
    ),
    "link": lambda name: Verb(
        name,
        "Say how one memory stands to another.",
        (_ID, Argument("other", "The other memory.", "name")),
        tuple(Option(kind, f"The first {kind} the other.", "flag") for kind in LINKS),
        ("hardwon link 14 12 --replaces", "hardwon link 14 9c1d0e2 --supports"),
        "What is replaced is not recalled any more; of what is contradicted, both say so.",
        "curate",
    ),
    "approve": lambda name: Verb(
        name,
        "Vouch for a memory: it is confirmed, and comes back if it was rejected.",
        (Argument("id", _ID.help, "name", many=True),),
        (),
        ("hardwon approve 12", "hardwon approve 12 13 14"),
        "Only for a person at a terminal: it asks for each.",
        "curate",
    ),
    "reject": lambda name: Verb(
        name,
        "Turn a memory down: it is not shown, and what says the same stays out.",
        (Argument("id", _ID.help, "name", many=True),),
        (YES,),
        ("hardwon reject 12",),
        "Only for a person. No door lets the same words in again, until `approve` does.",
        "curate",
    ),
    "review": lambda name: Verb(
        name,
        "What waits for your verdict: unconfirmed memories, with those that say much the same.",
        (),
        (Option("limit", "At most this many (default 20).", "number", metavar="N"), _EXIT),
        ("hardwon review", "hardwon review --limit 5 --json"),
        "Then: `hardwon approve`, `hardwon reject`, `hardwon revise`, `hardwon link A B --replaces`.",
        "curate",
    ),
    "useful": lambda name: Verb(name, "Say that a memory helped.", (_ID,), (), ("hardwon useful 12",), module="curate"),
    "useless": lambda name: Verb(name, "Say that a memory did not help.", (_ID,), (), ("hardwon useless 12",), module="curate"),
    "hook": lambda name: Verb(
        name,
        "What an agent's client runs at each moment of a session: it tells what happened, and is told what this repository has taught.",
        (Argument("client", "Whose hook it is, such as claude-code, codex, gemini, opencode, cursor or vscode.", "name"),),
        examples=("hardwon hook claude-code",),
        about="`hardwon install` writes it into the client's configuration. Ends within a second, with 0 but for a refusal that a client "
        "knows by no other sign; what goes wrong is told by `hardwon status`.",
        module="hooks",
    ),
    "mcp": lambda name: Verb(
        name,
        "Serve the memory to a coding agent over MCP, on standard input and output.",
        examples=("hardwon mcp", "hardwon mcp -p payments"),
        about="Clients start it; `hardwon install` tells them to. It ends when the client closes the pipe or is gone.",
        module="mcp",
    ),
}
WHOLE = (
    "ingest",
    "run",
    "refresh",
    "import",
    "export",
    "share",
    "reembed",
    "compact",
    "rekey",
    "bench",
    "status",
    "verify",
    "backup",
    "restore",
    "repair",
    "torture",
    "install",
    "uninstall",
    "doctor",
)
NAMES = ("init", *_ROWS, *WHOLE)


def row(name: str) -> Verb | None:
    """The verb of that name, if there is one."""
    make = _ROWS.get(name)
    if make is None and name in NAMES:
        from hardwon.doors.whole_verbs import ROWS

        make = ROWS[name]
    return make(name) if make else None


def __getattr__(name: str) -> object:
    """``VERBS``, the whole table in its order, and ``BY_NAME``: for help, completion and tests."""
    if name in ("VERBS", "BY_NAME"):
        rows = {verb: row(verb) for verb in NAMES}
        return tuple(rows.values()) if name == "VERBS" else rows
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
