"""The Pythons of this machine that the package supports."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.support.kafka.child import run_program

MINORS = (11, 12, 13)


def pythons() -> dict[str, Path]:
    """`3.12` -> an interpreter of that version that can make environments, where there is one."""
    found: dict[str, Path] = {}
    for minor in MINORS:
        for path in _candidates(minor):
            probe = "import sys, venv; print('{}.{}'.format(*sys.version_info))"
            done = run_program([path, "-c", probe])
            if done.returncode == 0 and done.stdout.strip() == f"3.{minor}":
                found[f"3.{minor}"] = path
                break
    return found


def _candidates(minor: int) -> Iterator[Path]:
    onpath = shutil.which(f"python3.{minor}")
    if onpath:
        yield Path(onpath)
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    yield from sorted((root / "versions").glob(f"3.{minor}.*/bin/python3"), reverse=True)
