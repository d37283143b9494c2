"""Text without secrets that looks like them: lock files, hashes, histories and logs, in their true shapes with random values."""

# ruff: noqa: E501  (tables of texts read better a text a line)

from __future__ import annotations

import base64
import json
import os
import subprocess
import sysconfig
from collections.abc import Iterator

from issuers import B62, DIGITS, HEX, LOWER, LOWER_DIGITS, Maker

_NAMES = ("lodash", "react-dom", "serde_json", "tokio", "numpy", "requests", "left-pad", "jsonwebtoken", "keyring", "passlib", "token-types",
          "secrecy", "golang-jwt", "csrf", "oauthlib", "bcrypt", "password-hash", "api-key-stamper", "rand_core", "zope-interface")  # fmt: skip
_VOCABULARY = (
    "fix add use keep when the a cache token password key of in retry parser for session hash login user header not after lost"
)
_WORDS = _VOCABULARY.split()


def standard_library(_: int) -> Iterator[str]:
    """Python's own sources, without its tests: their fixtures hold keys and passwords on purpose."""
    yield from folder(sysconfig.get_paths()["stdlib"], (".py",), {"test", "tests", "idle_test", "site-packages"})


def folder(path: str, endings: tuple[str, ...] = (), without: frozenset[str] | set[str] = frozenset({".git"})) -> Iterator[str]:
    """Every text file below a folder."""
    for top, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in without)
        for name in sorted(names):
            if not endings or name.endswith(endings):
                try:
                    with open(os.path.join(top, name), encoding="utf-8") as file:
                        yield file.read()
                except (UnicodeDecodeError, OSError):
                    continue


def messages(repository: str, limit: int) -> Iterator[str]:
    """A repository's newest commits as ``git log --stat`` shows them, a hundred at a time."""
    command = ["git", "-C", repository, "log", "--stat", f"-{limit}", "--format=commit %H%ntree %T%nAuthor: %an <%ae>%n%n%B"]
    text = subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")
    commits = text.split("\ncommit ")
    for at in range(0, len(commits), 100):
        yield "\ncommit ".join(commits[at : at + 100])


def _version(m: Maker) -> str:
    return f"{m.dice.randint(0, 30)}.{m.dice.randint(0, 30)}.{m.dice.randint(0, 30)}" + m.pick(
        "", "", "", "-rc.1", "-beta.2", "+incompatible"
    )


def _name(m: Maker) -> str:
    return m.pick("", "", "@types/", "@babel/") + m.dice.choice(_NAMES) + m.pick("", "", f"-{m.any(LOWER, 3, 7)}")


def _sri(m: Maker) -> str:
    return m.pick(f"sha512-{m.base64(64)}", f"sha512-{m.base64(64)}", f"sha1-{m.base64(20)}", f"sha256-{m.base64(32)}")


def lock_files(seed: int) -> Iterator[str]:
    """npm, yarn (both), pnpm, bun, Poetry, uv, pip, Cargo, Go, Bundler, Composer, Nix, Mix and Gradle."""
    m = Maker(seed)
    for _ in range(6):
        yield from _javascript(m)
        yield from _others(m)


def _javascript(m: Maker) -> Iterator[str]:
    packages = {
        f"node_modules/{_name(m)}-{n}": {
            "version": _version(m), "resolved": f"https://registry.npmjs.org/{_name(m)}/-/x-{_version(m)}.tgz", "integrity": _sri(m),
            "license": "MIT", "engines": {"node": ">=18"},
        }
        for n in range(120)
    }  # fmt: skip
    yield json.dumps({"name": "app", "lockfileVersion": 3, "packages": packages}, indent=2)
    yield "\n".join(
        f'"{_name(m)}@^{_version(m)}":\n  version "{_version(m)}"\n  resolved "https://registry.yarnpkg.com/x/-/x-{_version(m)}.tgz#{m.any(HEX, 40)}"\n'
        f"  integrity {_sri(m)}\n  dependencies:\n    {_name(m)} \"^{_version(m)}\"\n"
        for _ in range(120)
    )  # fmt: skip
    yield "\n".join(
        f'"{_name(m)}@npm:^{_version(m)}":\n  version: {_version(m)}\n  resolution: "{_name(m)}@npm:{_version(m)}"\n  checksum: 10c0/{m.any(HEX, 128)}\n  languageName: node\n'
        for _ in range(120)
    )
    yield "packages:\n" + "\n".join(
        f"  '{_name(m)}@{_version(m)}(react@{_version(m)})':\n    resolution: {{integrity: {_sri(m)}}}\n    engines: {{node: '>=18'}}\n"
        for _ in range(120)
    )
    yield "\n".join(
        f'    "{_name(m)}": ["{_name(m)}@{_version(m)}", "", {{ "dependencies": {{}} }}, "{_sri(m)}"],' for _ in range(120)
    )


def _others(m: Maker) -> Iterator[str]:
    def wheel() -> str:
        return f"{m.dice.choice(_NAMES)}-{_version(m)}-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"

    yield (
        "\n".join(
            f'[[package]]\nname = "{_name(m)}"\nversion = "{_version(m)}"\nfiles = [\n'
            + "".join(f'    {{file = "{wheel()}", hash = "sha256:{m.any(HEX, 64)}"}},\n' for _ in range(4))
            + "]\n"
            for _ in range(40)
        )
        + f'\n[metadata]\ncontent-hash = "{m.any(HEX, 64)}"\n'
    )
    yield "\n".join(
        f'wheels = [\n    {{ url = "https://files.pythonhosted.org/packages/{m.any(HEX, 2)}/{m.any(HEX, 2)}/{m.any(HEX, 60)}/{wheel()}", hash = "sha256:{m.any(HEX, 64)}", size = {m.any(DIGITS, 6)} }},\n]'
        for _ in range(80)
    )
    yield "\n".join(
        f"{m.dice.choice(_NAMES)}=={_version(m)} \\\n    --hash=sha256:{m.any(HEX, 64)} \\\n    --hash=sha256:{m.any(HEX, 64)}"
        for _ in range(80)
    )
    yield "\n".join(
        f'[[package]]\nname = "{m.dice.choice(_NAMES)}"\nversion = "{_version(m)}"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "{m.any(HEX, 64)}"\n'
        for _ in range(120)
    )
    yield "\n".join(
        f"github.com/{m.any(LOWER, 5, 9)}/{m.dice.choice(_NAMES)} v{_version(m)}{m.pick('', '/go.mod')} h1:{m.base64(32)}"
        for _ in range(200)
    )
    yield "\n".join(f"golang.org/x/net v0.0.0-{m.any(DIGITS, 14)}-{m.any(HEX, 12)} h1:{m.base64(32)}" for _ in range(60))
    yield "CHECKSUMS\n" + "\n".join(f"  {m.dice.choice(_NAMES)} ({_version(m)}) sha256={m.any(HEX, 64)}" for _ in range(80))
    yield json.dumps([
        {"name": _name(m), "source": {"type": "git", "reference": m.any(HEX, 40)}, "dist": {"url": f"https://api.github.com/repos/a/b/zipball/{m.any(HEX, 40)}", "shasum": ""}}
        for _ in range(60)
    ], indent=4)  # fmt: skip
    yield json.dumps(
        {
            "nodes": {
                f"n{n}": {"locked": {"narHash": f"sha256-{m.base64(32)}", "rev": m.any(HEX, 40), "lastModified": 1}}
                for n in range(40)
            }
        },
        indent=2,
    )
    yield "\n".join(
        f'  "{m.any(LOWER, 4, 8)}": {{:hex, :jason, "{_version(m)}", "{m.any(HEX, 64)}", [:mix], [], "hexpm", "{m.any(HEX, 64)}"}},'
        for _ in range(60)
    )


def hashes(seed: int) -> Iterator[str]:
    """Digests, UUIDs, ids, image digests, fingerprints, ETags, cache keys and a history with them."""
    m = Maker(seed)
    lines = (
        lambda: f"{m.any(HEX, 64)}  dist/{m.dice.choice(_NAMES)}-{_version(m)}.tar.gz", lambda: f"commit {m.any(HEX, 40)}", lambda: f"index {m.any(HEX, 10)}..{m.any(HEX, 10)} 100644",
        lambda: f"Change-Id: I{m.any(HEX, 40)}", lambda: f"request_id={m.uuid()} status=200", lambda: f"md5:{m.any(HEX, 32)}", lambda: f"{m.uuid().upper()}",
        lambda: f"image: registry.example.com/app@sha256:{m.any(HEX, 64)}", lambda: f"SHA256:{m.base64(32).rstrip('=')} joe@host (ED25519)", lambda: f'ETag: "{m.any(HEX, 32)}-{m.dice.randint(1, 9)}"',
        lambda: f"cache key linux-node-{m.any(HEX, 64)} restored", lambda: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{m.any(B62, 43)} joe@host", lambda: f"Message-ID: <{m.any(DIGITS, 14)}.{m.any(DIGITS, 5)}-1-joe@example.org>",
        lambda: f"trace {m.any(HEX, 32)} span {m.any(HEX, 16)}", lambda: f"arn:aws:iam::{m.any(DIGITS, 12)}:role/deploy", lambda: f"pin-sha256=\"{m.base64(32)}\"", lambda: f"  Fixes: {m.any(HEX, 12)} (\"{' '.join(m.dice.choices(_WORDS, k=6))}\")",
        lambda: f"parent {m.any(HEX, 40)} tree {m.any(HEX, 40)}", lambda: f"/nix/store/{m.any(LOWER_DIGITS, 32)}-python3-3.11.7", lambda: f"0x{m.any(HEX, 16)} <main+0x{m.any(HEX, 3)}>", lambda: f"{' '.join(m.dice.choices(_WORDS, k=9))}",
        lambda: f"Authorization: Bearer ${{{m.pick('TOKEN', 'API_KEY')}}}", lambda: f"blob {m.any(HEX, 40)} {m.any(DIGITS, 5)}", lambda: f"https://github.com/a/b/commit/{m.any(HEX, 40)}", lambda: f"dist/assets/index-{m.any(B62, 8)}.js",
        lambda: f"sha384-{m.base64(48)}", lambda: f"uuid: {m.uuid()}", lambda: f"oid sha256:{m.any(HEX, 64)}", lambda: f"gpg: using RSA key {m.any(HEX.upper(), 40)}", lambda: "+".join(m.any(HEX, 2) for _ in range(16)).replace("+", ":"),
    )  # fmt: skip
    for _ in range(40):
        yield "\n".join(m.dice.choice(lines)() for _ in range(400))


def ci_logs(seed: int) -> Iterator[str]:
    """What continuous integration prints: steps with times, downloads, compilers, test ids, masked secrets, base64 of pictures."""
    m = Maker(seed)
    lines = (
        lambda: f"##[group]Run actions/checkout@{m.any(HEX, 40)}", lambda: "env: GITHUB_TOKEN: ***", lambda: f"Downloading {m.dice.choice(_NAMES)}-{_version(m)}-py3-none-any.whl (12.3 MB)",
        lambda: f"tests/test_{m.dice.choice(_WORDS)}.py::test_{'_'.join(m.dice.choices(_WORDS, k=4))}[{m.any(LOWER_DIGITS, 6)}] PASSED [ {m.dice.randint(1, 99)}%]", lambda: f"PASS: test_{m.dice.choice(_WORDS)}_{m.dice.randint(1, 90)}",
        lambda: f"gcc -DHAVE_CONFIG_H -I. -O2 -g -Wall -c -o lib/{m.dice.choice(_WORDS)}.o lib/{m.dice.choice(_WORDS)}.c", lambda: f"#{m.dice.randint(5, 40)} sha256:{m.any(HEX, 64)} {m.dice.randint(1, 80)}.1MB / 80.1MB 1.2s",
        lambda: f"Cache restored from key: Linux-pip-{m.any(HEX, 64)}", lambda: f"/home/runner/_temp/{m.uuid()}.sh: line {m.dice.randint(1, 90)}: command not found", lambda: f"Compiling {m.dice.choice(_NAMES)} v{_version(m)}",
        lambda: f"  File \"/usr/lib/python3.11/site-packages/{m.dice.choice(_NAMES)}/core.py\", line {m.dice.randint(1, 900)}, in {'_'.join(m.dice.choices(_WORDS, k=3))}", lambda: "AssertionError: expected password to be hashed",
        lambda: f"data:image/png;base64,iVBORw0KGgo{base64.b64encode(m.dice.randbytes(90)).decode()}", lambda: f"E   KeyError: 'token' in <app.{m.dice.choice(_WORDS)}.Session object at 0x7f{m.any(HEX, 10)}>", lambda: f"> Task :app:compile{m.dice.choice(_WORDS).capitalize()}Kotlin UP-TO-DATE",
        lambda: f"[{m.any(DIGITS, 2)}:{m.any(DIGITS, 2)}] ✓ {' '.join(m.dice.choices(_WORDS, k=5))} ({m.any(DIGITS, 2)} ms)", lambda: f"Artifact {m.dice.choice(_NAMES)}.zip has been successfully uploaded! Final size is {m.any(DIGITS, 7)} bytes. Artifact ID is {m.any(DIGITS, 10)}",
        lambda: f"Run ID {m.any(DIGITS, 10)}, attempt 1, runner GitHub Actions {m.dice.randint(1, 99)}", lambda: f"npm warn deprecated {_name(m)}@{_version(m)}: this package has been renamed", lambda: "  Logged in as joe using token *** (oauth_token)", lambda: "Password: ",
        lambda: f"{m.any(HEX, 12)}: Pull complete", lambda: f"writing image sha256:{m.any(HEX, 64)} done", lambda: f"coverage: {m.any(DIGITS, 2)}.{m.any(DIGITS, 1)}% of statements, digest {m.any(HEX, 8)}",
    )  # fmt: skip
    for _ in range(40):
        yield "\n".join(
            f"2026-03-0{m.dice.randint(1, 9)}T05:06:{m.any(DIGITS, 2)}.{m.any(DIGITS, 7)}Z " + m.dice.choice(lines)()
            for _ in range(400)
        )


GENERATED = {"standard library": standard_library, "lock files": lock_files, "hashes": hashes, "CI logs": ci_logs}
