"""Failures that teach nothing about the code: typing errors, the network, what is not installed, searches without a match. Pure.

By words and exit codes, without patterns: every failed command passes here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from hardwon.capture.commands import Work
    from hardwon.capture.event import Ended

    Reason = Literal[
        "", "own", "refused", "no check", "killed", "not found", "usage", "path", "network", "environment", "silent", "style"
    ]
else:
    Reason = str

_READ = 12_000  # characters at either end of an output
_KILLED = frozenset((124, 129, 130, 137, 143, 255))
_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "refused",
        (
            "the user doesn't want to proceed", "user rejected", "permission to use", "requires approval",
            "denied by the user", "user denied",
            "has been denied", "request interrupted by user", "operation not permitted", "blocked by hook", "sandbox denied",
        ),
    ),
    ("killed",
        (
            "command timed out", "timed out after", "execution timed out", "signal: killed", "out of memory", "oom-kill",
            "cannot allocate memory",
        ),
    ),
    (
        "not found",
        (
            ": command not found", ": not found\n", "is not recognized as an internal", "command not found:", "no such command",
            "could not find a required", "unknown command", "executable file not found", "no such subcommand", "missing script:",
            "no rule to make target", "couldn't find a script named", "is not a known command", "command \"", "no such task",
            "is not recognized as the name of a cmdlet", "is not recognized as a name of a cmdlet",
        ),
    ),
    (
        "usage",
        (
            "unrecognized arguments", "unrecognized option", "no such option", "unknown option", "invalid option", "unknown flag",
            "unexpected argument", "flag provided but not defined", "illegal option", "unknown argument",
            "missing required argument",
            "the following arguments are required", "unrecognized option parameter", "invalid value for", "bad option",
            "unknown parameter",
            "is not a valid statement separator",
            "unrecognized cli parameter", "unexpected eof while looking for matching", "syntax error near unexpected token",
        ),
    ),
    (
        "path",
        (
            "file or directory not found", "no tests ran", "no test files", "no tests found", "no test suite found",
            "collected 0 items",
            "no tests were found", "can't open file", "cannot open file", "cannot find main module", "go.mod file not found",
            "could not find `cargo.toml`", "enoent: no such file or directory, open", "no such file or directory (os error 2)",
            "no pom in this directory", "there is no pom", "requires a project to execute", "cannot access '",
            "not a directory", "error: not found:",
            "no such file or directory: ", "cannot find path '", "could not read package.json", "no matching packages",
            "does not contain a gradle build",
        ),
    ),
    (
        "network",
        (
            "could not resolve host", "temporary failure in name resolution", "name or service not known", "getaddrinfo",
            "eai_again",
            " enotfound", "(enotfound", "etimedout", "econnreset", "network is unreachable", "no route to host", "connection timed out",
            "tls handshake timeout",
            "read timed out", "max retries exceeded", "connection reset by peer", "certificate verify failed",
            "503 service unavailable",
            "502 bad gateway", "429 too many requests", "too many requests", "failed to establish a new connection",
            "i/o timeout",
            "could not transfer artifact", "dial tcp", "spurious network error", "unable to access 'http",
            "failed to download", "failed to fetch",
            "registry.npmjs.org", "err_connection", "rate limit exceeded", "newconnectionerror",
        ),
    ),
    (
        "environment",
        (
            "eaddrinuse", "address already in use", "cannot connect to the docker daemon", "no space left on device",
            "permission denied",
            "eacces:", "code eacces", "read-only file system", "connection refused", "econnrefused", "no module named pytest",
            "no module named pip",
            "externally-managed-environment", "running scripts is disabled on this system",
            "pg_config", "is the server running", "no java runtime", "java_home",
            "unsupported engine",
            "requires node", "requires python", "no matching distribution", "resolutionimpossible", "cannot find package",
            "err_module_not_found",
            "no required module provides package", "is not in goroot", "is not in std", "can't find crate for",
            "could not find a version",
            "linker `cc` not found", "command failed with enoent", "npm err! missing", "peer dep",
            "could not determine executable to run",
            "please run npm install", "failed to find tool", "too many open files", "database is locked",
            "library not loaded",
            "cannot open shared object file", "glibc", "playwright install", "browser was not found",
        ),
    ),
)  # fmt: skip
# What the message of one test may well say of the code itself.
_LOOSE = frozenset(
    (
        "permission denied",
        "database is locked",
        "too many requests",
        "429 too many requests",
        "rate limit exceeded",
        "read-only file system",
    )
)
_MISSING = (
    ("No module named '", "'"),
    ("Cannot find module '", "'"),
    ('Failed to resolve import "', '"'),
    ("package ", " is not in "),
)
_TESTS = (
    " error in ", " errors in ", "during collection", " failed, ", " failed in ", " passed in ", "--- fail: ", "tests run: ",
    "test result: failed", " failing", "failed (failures=", "failed (errors=", "tests:  ", "not ok ", " failures", "tests passed, ",
    "[build failed]",
)  # fmt: skip


def reason(work: Work, exit_code: int | None, ended: Ended, output: str, project: frozenset[str] = frozenset()) -> Reason:
    """Why a failure of a command teaches nothing; "" where it may teach something. ``project``: names of modules and files that the
    session has edited: what is missing of those was not forgotten to be installed."""
    if work.kind == "own":
        return "own"
    if ended in ("denied", "interrupted"):
        return "refused"
    by_code: Reason = "killed" if exit_code in _KILLED else "not found" if exit_code in (126, 127) else ""
    if by_code:
        return by_code
    if work.kind not in ("test", "build", "types", "run"):
        return "style" if work.kind in ("lint", "format") else "no check"
    return of_text(output, project) if output.strip() else "silent"


def of_text(output: str, project: frozenset[str] = frozenset()) -> Reason:
    """The same, by the words of an output alone."""
    text = (output if len(output) <= 2 * _READ else f"{output[:_READ]}\n{output[-_READ:]}").lower()
    for why, words in _WORDS[:2]:
        if any(word in text for word in words):
            return why  # type: ignore[return-value]  # words of the set
    if _tells_of_tests(text):
        return ""  # what tests print may say anything: each failing one is looked at by itself
    for why, words in _WORDS[2:]:
        if any(word in text for word in words):
            return why  # type: ignore[return-value]
    return "environment" if missing_module(output, project) else ""


def of_failure(kind: str, message: str, project: frozenset[str] = frozenset()) -> Reason:
    """Why the failure of one test teaches nothing: what it says is about the network or about what is not installed."""
    said = f"{kind}: {message}"
    text = said.lower()
    for why, words in _WORDS[-2:]:
        if any(word in text for word in words if word not in _LOOSE):
            return why  # type: ignore[return-value]
    return "environment" if missing_module(said, project) else ""


def missing_module(text: str, project: frozenset[str] = frozenset()) -> bool:
    """Whether a text says that a package is missing which is not the project's own."""
    for before, after in _MISSING:
        at = text.find(before)
        if at < 0:
            continue
        name = text[at + len(before) :].partition(after)[0][:120]
        if after not in text[at + len(before) : at + len(before) + 121] or not name or " " in name:
            continue
        own = name.startswith((".", "/", "@/", "~/", "src")) or any(part in project for part in name.replace("/", ".").split("."))
        return not own
    return False


def _tells_of_tests(text: str) -> bool:
    return any(sign in text for sign in _TESTS)
