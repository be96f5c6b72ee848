#!/usr/bin/env python3
"""Prepares a release, step by step: version, changelog, tests, packages and their checks, tag.

python -m scripts.release 0.1.0 [--skip-tests]

What was built is in dist/. Nothing is signed, pushed or published.
"""

import datetime
import re
import sys
from pathlib import Path
from typing import Final

from kgroups.core.release import VERSION
from scripts.changelog import fragments, gathered, released
from tests.support.kafka.child import run_program

ROOT: Final = Path(__file__).parents[1]
LONGEST_S: Final = 6 * 3600
SEMANTIC: Final = r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?"


def run(*command: str) -> str:
    """Run a step; the release ends where one fails."""
    print("release:", " ".join(command), flush=True)
    done = run_program(list(command), timeout_s=LONGEST_S, cwd=ROOT)
    if done.returncode:
        sys.exit(
            f"error: `{' '.join(command)}` ended with {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def check_tree(version: str) -> None:
    """See that everything is committed, and that the version is new."""
    if not re.fullmatch(SEMANTIC, version):
        sys.exit(f"error: `{version}` is not a version such as 0.1.0 or 0.2.0rc1")
    if run("git", "status", "--porcelain").strip():
        sys.exit("error: there are uncommitted changes")
    if run("git", "tag", "--list", f"v{version}").strip():
        sys.exit(f"error: there is a tag v{version}")


def write_version(version: str) -> None:
    """Set the version, and head what was unreleased with it."""
    module = ROOT / "core" / "release.py"
    module.write_text(module.read_text().replace(f'"{VERSION}"', f'"{version}"'))
    changelog = ROOT / "CHANGELOG.md"
    new = fragments()
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    changelog.write_text(released(gathered(changelog.read_text(), new), version, date))
    for fragment in new:
        fragment.unlink()


def main(version: str, *, tests: bool) -> int:
    """All steps."""
    check_tree(version)
    write_version(version)
    run("make", "docs", "completions", "man")
    run("make", "check")
    if tests:
        run("make", "test-all")
    run(sys.executable, "-m", "scripts.wheels")
    run(sys.executable, "-m", "build", "--outdir", "dist")
    wheel = f"dist/kgroups-{version}-py3-none-any.whl"
    run(sys.executable, "-m", "check_wheel_contents", wheel)
    run(sys.executable, "-m", "pytest", "-q", "tests/house/test_wheel.py")
    run("git", "add", "--all")
    run("git", "commit", "--quiet", "--allow-empty", "--message", f"Release {version}")
    run("git", "tag", "--annotate", f"v{version}", "--message", f"kgroups {version}")
    print(f"release: {wheel} and its sdist are built, v{version} is tagged; sign and publish them")
    return 0


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(words) != 1:
        sys.exit("usage: python -m scripts.release VERSION [--skip-tests]")
    sys.exit(main(words[0], tests="--skip-tests" not in sys.argv))
