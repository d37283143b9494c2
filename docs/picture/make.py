"""Make ``docs/terminal.png``: real commands in a real shell on a real repository, drawn exactly as the terminal shows them.

    pip install pyte pillow fontpkg-jetbrains-mono
    git clone https://github.com/pytest-dev/pytest /tmp/pytest
    python docs/picture/make.py --repo /tmp/pytest --out docs/terminal.png

Only the commands are written here. An interactive bash on a pseudo-terminal runs them in a clone of the repository, a terminal emulator
keeps what the screen shows, and the screen is drawn cell by cell, at twice the size of a plain display: text, its colour, bold and faint,
which is all that Hardwon uses. The room above a prompt is the drawing's; everything else is the terminal's.

The shell's home is a new folder, ``--home``, because a store's path is printed; /home/dev unless told otherwise, which needs the right to
make it. It is removed at the end. Hardwon itself needs none of the three packages.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any, NoReturn

import fontpkg.pil
import pyte
from PIL import Image, ImageDraw

ORIGIN = "https://github.com/pytest-dev/pytest"
COMMANDS = (
    "hardwon init",
    'hardwon recall "why not deprecate raising unittest.SkipTest?" -k 1',
    'hardwon fail _is_skipped "raise SkipTest sets no mark" --file src/_pytest/unittest.py',
    'hardwon fail _is_skipped "subclasses inherit the mark" --file src/_pytest/unittest.py',
    'hardwon fail _is_skipped "raise SkipTest sets no mark" --file src/_pytest/unittest.py',
    "hardwon before --symbol _is_skipped --file src/_pytest/unittest.py --budget 230",
)

COLUMNS, ROWS = 100, 200  # the rows are more than are ever filled: nothing scrolls away
PATIENCE = 600.0  # seconds that one command may take

# Marks of the shell-integration protocol (OSC 133): D tells that a command ended, and how; B that the prompt stands.
ENDED = re.compile(rb"\x1b\]133;D;(\d+)\x07.*\x1b\]133;B\x07", re.DOTALL)
PROMPT_COMMAND = r"""printf '\033]133;D;%s\007' "$?" """
PROMPT = r"\[\e[34m\]\w\[\e[0m\] \[\e[2m\]$\[\e[0m\] \[\e]133;B\a\]"
PROMPT_SHOWN = re.compile(r"~[^ ]* \$ ")

FONT, SIZE, LINE, GAP, MARGIN, CORNER = "jetbrains-mono", 25, 36, 18, 44, 20  # pixels; a cell of this font is 15 wide at 25
REGULAR, BOLD = 400, 700
BACKGROUND, FRAME, TEXT = "#161b22", "#30363d", "#d1d7e0"
COLOURS = {
    "default": TEXT, "dim": "#8b949e", "black": "#484f58", "red": "#ff7b72", "green": "#56d364", "brown": "#e3b341",
    "blue": "#79c0ff", "magenta": "#d2a8ff", "cyan": "#56d4dd", "white": "#d1d7e0",
}  # fmt: skip


class Screen(pyte.Screen):
    """A screen that knows faint text too, as a colour of its own."""

    def select_graphic_rendition(self, *codes: int, **private: Any) -> None:
        """Follow one SGR sequence."""
        super().select_graphic_rendition(*codes, **private)
        if codes in ((2,), (22,)):
            self.cursor.attrs = self.cursor.attrs._replace(fg="dim" if codes == (2,) else "default")


class Shell:
    """An interactive bash on a pseudo-terminal, and the screen that it writes to."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self.screen = Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            _become_shell(folder, variables)
        self._until_prompt()

    def run(self, command: str) -> int:
        """Type a command, wait for the next prompt; the exit code."""
        os.write(self._terminal, command.encode() + b"\r")
        return self._until_prompt()

    def close(self) -> None:
        """Hang up."""
        os.close(self._terminal)
        os.kill(self._process, signal.SIGHUP)
        os.waitpid(self._process, 0)

    def shown(self) -> str:
        """The text of the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def _until_prompt(self) -> int:
        seen, end = b"", time.monotonic() + PATIENCE
        while not (mark := ENDED.search(seen)):
            if not select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no prompt within {PATIENCE:.0f} s; the terminal shows:\n{self.shown()}")
            piece = os.read(self._terminal, 65536)
            self._stream.feed(piece)
            seen += piece
        return int(mark[1])


def _become_shell(folder: Path, variables: dict[str, str]) -> NoReturn:
    """In the child: never back into the parent's code, whatever fails."""
    try:
        termios.tcsetwinsize(0, (ROWS, COLUMNS))
        os.chdir(folder)
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], variables)  # noqa: S606 - a shell is what is shown
    finally:
        os._exit(127)


def clone(repository: Path, folder: Path) -> None:
    """A clone whose origin is the public one, so that no path of this machine is shown."""
    subprocess.run(["git", "clone", "--quiet", str(repository), str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "remote", "set-url", "origin", ORIGIN], check=True)


def environment(home: Path, programs: Path) -> dict[str, str]:
    """What a new user's shell would have: nothing of ours but the way to the programs."""
    return {
        "HOME": str(home),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "HISTFILE": "",
        "PS1": PROMPT,
        "PROMPT_COMMAND": PROMPT_COMMAND,
    }


def record(repository: Path, home: Path, programs: Path) -> Screen:
    """The screen after all the commands; a command that fails ends the program, with what the terminal showed."""
    folder = home / "src" / "pytest"
    clone(repository, folder)
    shell = Shell(folder, environment(home, programs))
    try:
        for command in COMMANDS:
            if code := shell.run(command):
                sys.exit(f"{command}: exit code {code}\n{shell.shown()}")
    finally:
        shell.close()
    return shell.screen


def draw(screen: Screen) -> Image.Image:
    """The filled rows of a screen, but for the prompt that waits at its end."""
    fonts = {weight: fontpkg.pil.truetype(FONT, SIZE, weight=weight) for weight in (REGULAR, BOLD)}
    cell = round(fonts[REGULAR].getlength("M"))
    lines = screen.display[: screen.cursor.y]
    gaps = [GAP if row and PROMPT_SHOWN.match(line) else 0 for row, line in enumerate(lines)]
    size = (2 * MARGIN + COLUMNS * cell, 2 * MARGIN + len(lines) * LINE + sum(gaps))
    image = Image.new("RGBA", size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)
    pen.rounded_rectangle((0, 0, size[0] - 1, size[1] - 1), CORNER, fill=BACKGROUND, outline=FRAME, width=2)
    for row in range(len(lines)):
        top = MARGIN + row * LINE + sum(gaps[: row + 1])
        for column in range(COLUMNS):
            mark = screen.buffer[row][column]
            if mark.data.strip():
                font = fonts[BOLD if mark.bold else REGULAR]
                pen.text((MARGIN + column * cell, top), mark.data, font=font, fill=colour(mark.fg))
    return image


def colour(name: str) -> str:
    """A colour of the terminal as one of the picture's; pyte says names or six hexadecimal digits."""
    return COLOURS.get(name.removeprefix("bright")) or f"#{name}"


def main() -> None:
    """Record and draw."""
    parser = argparse.ArgumentParser(description="Make the picture of the terminal for README.md.")
    parser.add_argument("--repo", type=Path, required=True, help=f"a clone of {ORIGIN}, with its whole history")
    parser.add_argument("--out", type=Path, required=True, help="where to write the PNG")
    parser.add_argument("--home", type=Path, default=Path("/home/dev"), help="made as the shell's home, then removed")
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--bin", type=Path, default=root / ".venv" / "bin", help="the folder of the hardwon command")
    given = parser.parse_args()
    home = given.home.absolute()
    home.mkdir()  # refuses one that exists: it is removed at the end
    try:
        screen = record(given.repo.absolute(), home, given.bin.absolute())
    finally:
        shutil.rmtree(home)
    # 64 colours hold the few of a terminal and their anti-aliased edges.
    draw(screen).quantize(64, method=Image.Quantize.FASTOCTREE).save(given.out, optimize=True)
    print(f"{given.out}: {given.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
