"""How the command loads its modules: what was compiled before is taken from there, everything else is Python's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hardwon

SOURCE = Path(hardwon.__file__).parent
ASK = "import sys; from hardwon.loading import install; install(); "


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package of its own, with nothing compiled."""
    shutil.copytree(SOURCE, tmp_path / "hardwon", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run(package: Path, code: str, *options: str, **more: str) -> str:
    known = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**known, "PYTHONPATH": str(package), **more}
    command = [sys.executable, *options, "-c", ASK + code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=package, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LOADER = "import hardwon.errors, hardwon.store; print(*(type(m.__loader__).__name__ for m in (hardwon.errors, hardwon.store)))"


def test_what_is_not_compiled_yet_is_left_to_python_which_compiles_it(package: Path) -> None:
    assert run(package, LOADER) == "SourceFileLoader SourceFileLoader"
    assert run(package, LOADER) == "Loader Loader"


def test_a_compiled_file_that_one_call_does_not_read_is_left_to_python(package: Path) -> None:
    file = package / "hardwon" / "errors.py"
    file.write_text(file.read_text() + f"\nLARGE = {'a' * 70_000!r}\n")
    assert run(package, LOADER) == "SourceFileLoader SourceFileLoader"
    assert run(package, f"{LOADER}; print(len(hardwon.errors.LARGE))") == "SourceFileLoader Loader\n70000"


def test_an_edited_source_is_what_runs(package: Path) -> None:
    ask = "from hardwon.errors import NAME; print(NAME)"
    file = package / "hardwon" / "errors.py"
    for name in ("one", "three"):
        file.write_text(file.read_text() + f"\nNAME = {name!r}\n")
        assert run(package, ask) == name
        assert run(package, ask) == name


def test_a_source_of_the_same_size_that_is_newer_is_what_runs(package: Path) -> None:
    ask = "from hardwon.errors import NAME; print(NAME)"
    file = package / "hardwon" / "errors.py"
    text = file.read_text()
    for number, name in enumerate(("one", "two")):
        file.write_text(f"{text}\nNAME = {name!r}\n")
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
        assert run(package, ask) == name


def test_a_compiled_file_that_is_cut_or_of_another_python_is_not_used(package: Path) -> None:
    run(package, LOADER)
    (compiled,) = (package / "hardwon" / "__pycache__").glob("errors.*.pyc")
    whole = compiled.read_bytes()
    for broken in (b"", whole[:10], b"\0\0\0\0" + whole[4:], whole[:4] + b"\1\0\0\0" + whole[8:]):
        compiled.write_bytes(broken)
        assert run(package, "import hardwon.errors; print(type(hardwon.errors.__loader__).__name__)", "-B") == "SourceFileLoader"


def test_a_module_that_is_gone_is_missing_and_not_taken_from_what_was_compiled(package: Path) -> None:
    run(package, LOADER)
    (package / "hardwon" / "errors.py").unlink()
    ask = "\ntry:\n    import hardwon.errors\nexcept ModuleNotFoundError as error:\n    print(error.name)"
    assert run(package, ask) == "hardwon.errors"


def test_modules_say_of_themselves_what_they_say_elsewhere(package: Path) -> None:
    ask = (
        "import hardwon.store.code, hardwon.errors as e, inspect; p = hardwon.store.code; "
        "print(e.__file__, e.__cached__, e.__spec__.origin, e.__package__, p.__path__[0], p.__package__, "
        "'class HardwonError' in inspect.getsource(e))"
    )
    run(package, ask)
    folder = package / "hardwon"
    cached = f"{folder}/__pycache__/errors.{sys.implementation.cache_tag}.pyc"
    told = f"{folder}/errors.py {cached} {folder}/errors.py hardwon {folder}/store/code hardwon.store.code True"
    assert run(package, ask) == told


def test_other_settings_of_python_turn_it_off(package: Path) -> None:
    ask = "print(any(one.__module__ == 'hardwon.loading' for one in sys.meta_path if isinstance(one, type)))"
    assert run(package, ask) == "True"
    assert run(package, ask, "-O") == "False"
    assert run(package, ask, PYTHONPYCACHEPREFIX=str(package / "elsewhere")) == "False"
