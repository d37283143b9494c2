"""The table of verbs: command line, help, completion and docs are made from it, and later MCP and REST.

A row says what a verb is called, what it takes and what it is for; doors/handle.py has a function of the same name.
"""

from __future__ import annotations

from hardwon.types import KINDS, OUTCOMES, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Form = Literal["text", "name", "number", "flag", "age"]


class Option(Value):
    """``--name`` of a verb. ``form``: text, name (one line without control characters), number, age (``30d``, ``12h``, ``2w``) or
    flag; ``many``: may be given repeatedly."""

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
    """One row. ``about`` is what the help page says besides."""

    name: str
    summary: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    about: str = ""


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
_YES = Option("yes", "Do it without asking.", "flag", short="y")
_ID = Argument("id", "A number (#12 or 12), an id, or a commit of 7 digits and more.")

VERBS: tuple[Verb, ...] = (
    Verb(
        "init",
        "Make the memory of this repository and read its history.",
        (),
        (
            Option("name", "The name under which -p finds it (default: the repository's).", "name", metavar="NAME"),
            Option("limit", "Read at most the newest N commits (default 100000).", "number", metavar="N"),
            Option("no-history", "Only make the store.", "flag"),
            Option("rebuild", "Make the search index anew, from what is kept and from git.", "flag"),
        ),
        ("hardwon init", "hardwon init --name payments --limit 20000"),
        "Reads every commit but merges that is not known yet, newest first, without a model and a network. It may be stopped with "
        "Ctrl-C at any time: what was read stays, and the next init goes on. Outside git it makes a memory for the folder.",
    ),
    Verb(
        "record",
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
    Verb(
        "fail",
        "Record that something went wrong on a symbol, and what it taught.",
        (Argument("symbol", "The function, method or class.", "name"), Argument("lesson", "What went wrong, in one line.")),
        (_DETAIL, _FILE, _SESSION),
        ('hardwon fail AuthService.validate "JWT expiry not handled" --file auth/service.py -d "check refresh_token first"',),
    ),
    Verb(
        "ok",
        "Record that something worked on a symbol.",
        (
            Argument("symbol", "The function, method or class.", "name"),
            Argument("lesson", "What worked, in one line.", required=False),
        ),
        (_DETAIL, _FILE, _SESSION),
        ('hardwon ok AuthService.validate "normalising to UTC fixed it" --file auth/service.py', "hardwon ok Payment.process"),
    ),
    Verb(
        "query",
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
    ),
    Verb("resolve", "Mark a lesson as resolved: it no longer counts for risk.", (_ID,), (), ("hardwon resolve 12",)),
    Verb("deactivate", "Mark a lesson as inactive: it no longer counts for risk.", (_ID,), (), ("hardwon deactivate 12",)),
    Verb(
        "stats",
        "A summary of what is kept, or of one symbol.",
        (Argument("symbol", "The symbol, or a part of its name.", "name", required=False),),
        (_FILE, Option("top", "How many risky symbols to show (default 10).", "number", metavar="N")),
        ("hardwon stats", "hardwon stats AuthService"),
    ),
    Verb(
        "recall",
        "What is remembered about a task or a question, best first.",
        (Argument("task", "The question or task, in words; - reads standard input.", required=False, many=True, joined=True),),
        (
            _FILE,
            _SYMBOL,
            Option("kind", "Only memories of this kind; may be repeated.", choices=KINDS, many=True, metavar="KIND"),
            _TAG,
            Option("k", "At most this many (default 10).", "number", short="k", metavar="N"),
            _BUDGET,
            Option("block", "Print the block for a prompt instead of a list.", "flag"),
            Option("explain", "Show what made up each score.", "flag"),
            _EXIT,
        ),
        (
            'hardwon recall "why do we retry uploads twice?"',
            'hardwon recall "connection pool exhausted" --file src/db.py --explain',
            'hardwon recall "flaky login test" --kind lesson --kind attempt --json',
        ),
        "An empty answer is an answer: nothing here reaches the floor. Scores are probabilities of being relevant.",
    ),
    Verb(
        "before",
        "The lessons of a file or symbol that is about to be edited.",
        (),
        (_FILE, _SYMBOL, _BUDGET, _EXIT),
        ("hardwon before --file auth/service.py --symbol AuthService.validate", "hardwon before --file lib/url.c"),
        "Failures first. Prints nothing when nothing applies.",
    ),
    Verb(
        "brief",
        "What a session should know at its start.",
        (),
        (_BUDGET, _EXIT),
        ("hardwon brief",),
        "Rules that hold, open attempts, what the last run left, risky symbols, changes that were taken back. At most 6,000 characters.",
    ),
    Verb("show", "One memory in full, with its occurrences and links.", (_ID,), (), ("hardwon show 12", "hardwon show 4f1e2a9c")),
    Verb("history", "How a memory came to be what it is.", (_ID,), (), ("hardwon history 12",)),
    Verb(
        "forget",
        "Forget memories; `undo` brings them back.",
        (Argument("id", _ID.help, required=False, many=True),),
        (
            Option("session", "Everything that this session wrote.", "name", metavar="ID"),
            Option("source", "Everything that this client wrote, such as claude-code.", "name", metavar="CLIENT"),
            Option("tag", "Everything with this tag; may be repeated.", "name", many=True, metavar="TAG"),
            Option("older-than", "Everything made longer ago than this; combines with the others.", "age", metavar="AGE"),
            Option("dry-run", "Say what would be forgotten, and do nothing.", "flag"),
            _YES,
        ),
        ("hardwon forget 12 --yes", "hardwon forget --session 8f2c --dry-run", "hardwon forget --tag spike --older-than 30d"),
    ),
    Verb("undo", "Take back the last resolve, deactivate or forget of a memory.", (_ID,), (), ("hardwon undo 12",)),
    Verb(
        "status",
        "Which memory this folder uses, why, how large it is, and whether it is well.",
        (),
        (),
        ("hardwon status", "hardwon status --json"),
    ),
    Verb(
        "verify",
        "Check the store: file, index, journal, every row. Never writes.",
        (),
        (),
        ("hardwon verify",),
        "Exits with 1 when something is wrong. On a large store this takes seconds to minutes.",
    ),
)

BY_NAME = {verb.name: verb for verb in VERBS}
