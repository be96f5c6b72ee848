"""A missing or old JDK is said in one sentence before anything is downloaded."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.kafka.child import run_program
from tests.support.kafka.java import MINIMUM_JAVA, major_version

ROOT = Path(__file__).parents[3]


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


# The shell script runs before anything is installed, the module whenever a JVM is needed.
CHECKS = {
    "scripts/check_java.sh": [shutil.which("bash") or "bash", "scripts/check_java.sh"],
    "tests.support.kafka.jars": [sys.executable, "-m", "tests.support.kafka.jars"],
}


def set_up(check: str, folder: Path, programs: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run one of the checks with only these programs (name -> shell script) on PATH."""
    tools = folder / "bin"
    tools.mkdir()
    for name, script in programs.items():
        program = tools / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    return run_program(
        CHECKS[check],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tools), "XDG_CACHE_HOME": str(folder / "cache")},
    )


@pytest.mark.parametrize("check", sorted(CHECKS))
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
    tmp_path: Path, check: str, programs: dict[str, str], problem: str
) -> None:
    """One sentence, a hint, exit 2, nothing on stdout, nothing fetched."""
    done = set_up(check, tmp_path, programs)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert problem in done.stderr
    assert f"\n\nhint: install a JDK {MINIMUM_JAVA}" in done.stderr
    assert not (tmp_path / "cache").exists()


def test_the_jdk_of_the_tests_passes_the_first_check() -> None:
    """With a JDK on PATH the script says nothing and ends with 0."""
    done = run_program(CHECKS["scripts/check_java.sh"], cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
