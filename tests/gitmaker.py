"""Real git repositories for tests: made quickly, the same hashes every time, untouched by the machine's git settings."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

START = 1_700_000_000  # seconds since 1970; the time of a repository's first commit unless told otherwise
STEP = 3_600  # seconds between commits that are given no time
AUTHOR = "Ada Example <ada@example.org>"

SETTINGS = """
[gc]
	auto = 0
[maintenance]
	auto = false
[commit]
	gpgsign = false
[core]
	hooksPath = /dev/null
	fsync = none
	safecrlf = false
	autocrlf = false
[advice]
	detachedHead = false
"""


class GitRepo:
    """A repository with a working tree at ``path``; ``made`` holds the commits in the order they were made.

    ``names`` and ``links`` are for those who make histories: commits by a word, and (commit, kind, what it refers to).
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.made: list[str] = []
        self.names: dict[str, str] = {}
        self.links: list[tuple[str, str, str]] = []
        os.makedirs(self.path, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        with open(os.path.join(self.path, ".git", "config"), "a", encoding="utf-8") as config:
            config.write(SETTINGS)

    def git(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        """Runs git in the repository and returns what it printed; AssertionError with its words if it fails."""
        command = ["git", "-C", self.path, *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, env=environment(env or {}), check=False)
        assert done.returncode == 0, f"{command}: {done.stderr.decode(errors='replace')}"
        return done.stdout.decode("utf-8", "replace").strip()

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Writes (or, for None, deletes) files of the working tree."""
        for name, text in files.items():
            path = os.path.join(self.path, name)
            if text is None:
                os.remove(path)
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text.encode("utf-8") if isinstance(text, str) else text)

    def commit(
        self,
        message: str | bytes = "A change",
        files: Mapping[str, str | bytes | None] | None = None,
        at: int | None = None,
        author: str = AUTHOR,
    ) -> str:
        """Commits the given files (None deletes one) and whatever was staged; an empty commit is allowed. ``at`` is in seconds."""
        if files:
            self.write(files)
            names = b"\0".join(os.fsencode(name) for name in files)
            self.git("add", "-A", "-f", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=names, env=_LITERAL)
        text = message.encode("utf-8") if isinstance(message, str) else message
        how = ("--allow-empty", "--allow-empty-message", "--no-verify", "--cleanup=verbatim", f"--author={author}")
        self.git("commit", "-q", *how, "-F", "-", stdin=text, env=self._dates(at))
        return self._made()

    def rename(self, old: str, new: str) -> None:
        """Moves a file and stages that; the next commit holds it."""
        os.makedirs(os.path.dirname(os.path.join(self.path, new)), exist_ok=True)
        self.git("mv", old, new)

    def revert(self, sha: str, reason: str = "", at: int | None = None) -> str:
        """Reverts a commit with git's own message, and the reason under it."""
        subject = self.git("show", "-s", "--format=%s", sha)
        self.git("revert", "--no-commit", sha)
        message = f'Revert "{subject}"\n\nThis reverts commit {sha}.\n' + (f"\n{reason}\n" if reason else "")
        made = self.commit(message, at=at)
        self.links.append((made, "reverts", sha))
        return made

    def pick(self, sha: str, at: int | None = None) -> str:
        """Cherry-picks a commit with ``-x``."""
        self.git("cherry-pick", "-x", sha, env=self._dates(at))
        made = self._made()
        self.links.append((made, "picks", sha))
        return made

    def branch(self, name: str) -> None:
        """Makes a branch here and goes to it."""
        self.git("checkout", "-q", "-b", name)

    def checkout(self, name: str) -> None:
        """Goes to a branch or commit."""
        self.git("checkout", "-q", name)

    def merge(self, name: str, message: str = "", at: int | None = None) -> str:
        """Merges a branch with a merge commit."""
        self.git("merge", "-q", "--no-ff", "-m", message or f"Merge branch '{name}'", name, env=self._dates(at))
        return self._made()

    def head(self) -> str:
        """The hash of HEAD, read from its file: a process less for each commit."""
        text = "ref: HEAD"
        while text.startswith("ref: "):
            with open(os.path.join(self.path, ".git", text.removeprefix("ref: ")), encoding="utf-8") as file:
                text = file.read().strip()
        return text

    def _dates(self, at: int | None) -> dict[str, str]:
        stamp = f"@{START + STEP * len(self.made) if at is None else at} +0000"
        return {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}

    def _made(self) -> str:
        self.made.append(self.head())
        return self.made[-1]


_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Variables for git that keep the machine's settings out."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    name, _, mail = AUTHOR.rstrip(">").partition(" <")
    people = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail, "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_EDITOR": "true", "LC_ALL": "C"}
    return {**own, **alone, **people, **more}


def make_history(path: str | os.PathLike[str]) -> GitRepo:
    """A repository of some 60 commits in Python, C and JavaScript with known links, the same each time; about a second.

    ``names``: root, cache, cache_revert, parser, parser_fix, regression, regression_fix, follow_up, hotfix, picked, rename,
    squashed, squashed_revert. ``links`` says which refers to which.
    """
    repo = GitRepo(path)
    _beginnings(repo)
    _everyday(repo, 0)
    _reverted(repo)
    _everyday(repo, 1)
    _fixed(repo)
    _everyday(repo, 2)
    _picked(repo)
    _requested(repo)
    return repo


def _named(repo: GitRepo, name: str, sha: str, kind: str = "", target: str = "") -> None:
    repo.names[name] = sha
    if kind:
        repo.links.append((sha, kind, target))


def _python(*functions: str) -> str:
    return "\n\n".join(f"def {name}(request):\n    return handle_{name}(request)\n" for name in functions)


def _c(*functions: str) -> str:
    return "#include <stdlib.h>\n\n" + "\n".join(
        f"int {name}(struct node *n)\n{{\n\treturn walk_{name}(n);\n}}\n" for name in functions
    )


def _js(*functions: str) -> str:
    return "\n".join(f"export function {name}(event) {{\n  return dispatch_{name}(event);\n}}\n" for name in functions)


def _beginnings(repo: GitRepo) -> None:
    files = {
        "README.md": "# Sample\n",
        "app/server.py": _python("login", "logout"),
        "lib/tree.c": _c("insert"),
        "web/ui.js": _js("click"),
    }
    _named(repo, "root", repo.commit("Start the project\n\nA server, a tree and a page.\n", files))
    repo.commit("server: add a health check", {"app/server.py": _python("login", "logout", "health")})
    repo.commit("tree: add lookup\n\nReviewed-by: Bob <bob@example.org>\n", {"lib/tree.c": _c("insert", "lookup")})
    repo.commit("ui: handle key presses (#3)", {"web/ui.js": _js("click", "press")}, author="Eve Example <eve@example.org>")


def _everyday(repo: GitRepo, series: int) -> None:
    """Fifteen commits that refer to nothing: noise for searches to see through."""
    for number in range(5):
        word = ("quota", "session", "report", "export", "backup")[number]
        name = f"{word}_{series}"
        repo.commit(f"server: add {name}\n\nSo that users can see their {word}.\n", {f"app/{word}{series}.py": _python(name)})
        repo.commit(f"tree: keep a {word} of nodes", {f"lib/{word}{series}.c": _c(name)})
        repo.commit(f"ui: show the {word}", {f"web/{word}{series}.js": _js(name)})


def _reverted(repo: GitRepo) -> None:
    cached = _python("login", "logout", "health").replace("return handle_login(request)", "return cached_login(request)")
    _named(repo, "cache", repo.commit("server: cache logins\n\nSaves a query on each request.\n", {"app/server.py": cached}))
    reason = "Cached logins outlive a change of password, so locked-out\nusers stayed signed in for an hour."
    _named(repo, "cache_revert", repo.revert(repo.names["cache"], reason))


def _fixed(repo: GitRepo) -> None:
    parser = "def parse_header(line):\n    name, value = line.split(':')\n    return name, value\n"
    _named(repo, "parser", repo.commit("parser: read headers", {"app/parser.py": parser}))
    fixed = parser.replace("split(':')", "split(':', 1)")
    message = f'parser: allow colons in values\n\nFixes: {repo.names["parser"][:12]} ("parser: read headers")\n'
    _named(repo, "parser_fix", repo.commit(message, {"app/parser.py": fixed}), "fixes", repo.names["parser"][:12])
    stripped = fixed.replace("return name, value", "return name.strip(), value.strip()")
    message = f"parser: strip blanks too\n\nFollow-up to {repo.names['parser_fix']}\n"
    _named(repo, "follow_up", repo.commit(message, {"app/parser.py": stripped}), "follows", repo.names["parser_fix"])
    balanced = _c("insert", "lookup", "rebalance")
    _named(repo, "regression", repo.commit("tree: rebalance after insert", {"lib/tree.c": balanced}))
    message = f"tree: do not free the root twice\n\nThe crash was introduced in commit\n{repo.names['regression']}.\n"
    guarded = balanced.replace("return walk_rebalance(n);", "return n->parent ? walk_rebalance(n) : 0;")
    _named(repo, "regression_fix", repo.commit(message, {"lib/tree.c": guarded}), "regression", repo.names["regression"])


def _picked(repo: GitRepo) -> None:
    repo.branch("stable")
    repo.commit("stable: freeze the version", {"VERSION": "1.0\n"})
    repo.checkout("main")
    _named(repo, "hotfix", repo.commit("ui: escape titles", {"web/escape.js": _js("escape_title")}))
    repo.checkout("stable")
    _named(repo, "picked", repo.pick(repo.names["hotfix"]))
    repo.checkout("main")
    repo.merge("stable", "Merge branch 'stable'")
    repo.rename("app/quota0.py", "app/limits.py")
    _named(repo, "rename", repo.commit("server: call quotas limits"))


def _requested(repo: GitRepo) -> None:
    _named(repo, "squashed", repo.commit("ui: drag and drop (#41)", {"web/drag.js": _js("drag", "drop")}))
    message = 'Revert "ui: drag and drop (#41)" (#43)\n\nReverts example/sample#41\n\nIt cannot be used with a keyboard.\n'
    _named(repo, "squashed_revert", repo.commit(message, {"web/drag.js": None}), "reverts", "#41")
    repo.commit("server: answer faster\n\nPR-URL: https://github.com/example/sample/pull/44\n", {"app/fast.py": _python("fast")})
