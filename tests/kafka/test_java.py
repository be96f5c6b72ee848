"""A missing or old JDK is said in one sentence before anything is downloaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kafka.java import MINIMUM_JAVA, major_version

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_412"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("javac 17.0.15", 17),
        ("javac 1.8.0_412", 8),
        ("command not found", None),
    ],
)
def test_versions_are_read_in_every_spelling(text: str, expected: int | None) -> None:
    """Old and new spelling, java and javac."""
    assert major_version(text) == expected


def set_up(folder: Path, programs: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the fetching of the jars with only these programs (name -> shell script) on PATH."""
    tools = folder / "bin"
    tools.mkdir()
    for name, script in programs.items():
        program = tools / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    return subprocess.run(
        [sys.executable, "-m", "tests.kafka.jars"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PATH": str(tools), "XDG_CACHE_HOME": str(folder / "cache")},
    )


@pytest.mark.parametrize(
    ("programs", "problem"),
    [
        ({}, "`java` is not on PATH"),
        ({"java": "echo 'openjdk version \"17.0.1\"' >&2"}, "`javac` is not on PATH"),
        (
            {"java": "echo 'java version \"1.8.0_412\"' >&2"},
            f"`java` is version 8, the Kafka of the tests needs {MINIMUM_JAVA}",
        ),
        ({"java": "echo 'no runtime present' >&2; exit 1"}, "answers: no runtime present"),
    ],
    ids=["no java", "a JRE without compiler", "Java 8", "a java that does not run"],
)
def test_set_up_without_a_jdk_ends_with_2_and_a_hint(
    tmp_path: Path, programs: dict[str, str], problem: str
) -> None:
    """One sentence, a hint, exit 2, nothing on stdout, nothing fetched."""
    done = set_up(tmp_path, programs)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert problem in done.stderr
    assert f"\n\nhint: install a JDK {MINIMUM_JAVA}" in done.stderr
    assert not (tmp_path / "cache").exists()
