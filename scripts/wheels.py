#!/usr/bin/env python3
"""Which Pythons can install kgroups without a compiler: a row for each release and platform.

python -m scripts.wheels [3.11 3.14 ...]   fails if a package has no wheel for one of them
"""

import re
import sys
from pathlib import Path
from typing import Final

from tests.support.kafka.child import run_program

ROOT: Final = Path(__file__).parents[1]
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS: Final = {
    "Linux x86-64": "x86_64-manylinux_2_28",
    "Linux ARM": "aarch64-manylinux_2_28",
    "macOS ARM": "aarch64-apple-darwin",
}
SOURCES: Final = ("pyspark",)
"""Pure Python, published as source only."""
MOST_MISSING: Final = 20
LONGEST_S: Final = 600


def missing(python: str, platform: str, *, extra: str = "all") -> list[str]:
    """Packages of the pinned versions that have no wheel.

    Args:
        python: as 3.14.
        platform: as uv names it.
    Raises:
        RuntimeError: the versions cannot be resolved for another reason.
    """
    lacking: list[str] = []
    while len(lacking) < MOST_MISSING:
        built = [word for name in (*SOURCES, *lacking) for word in ("--no-binary", name)]
        place = ("--python-version", python, "--python-platform", platform)
        what = ("--constraints", "constraints.txt", "--extra", extra, "pyproject.toml")
        compiled = (sys.executable, "-m", "uv", "pip", "compile", "--quiet")
        done = run_program(
            [*compiled, "--only-binary", ":all:", *built, *place, *what],
            timeout_s=LONGEST_S,
            cwd=ROOT,
        )
        if done.returncode == 0:
            return lacking
        named = re.search(r"Wheels are required for `([^`]+)`", done.stderr)
        if named is None or named[1] in lacking:
            raise RuntimeError(done.stderr.strip())
        lacking.append(named[1])
    return lacking


def main(pythons: list[str]) -> int:
    """Print the table; 1 if anything is missing."""
    found = {
        (python, name): missing(python, platform)
        for python in pythons or PYTHONS
        for name, platform in PLATFORMS.items()
    }
    for (python, name), lacking in found.items():
        print(f"{python:5} {name:13} {', '.join(lacking) or 'all wheels'}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
