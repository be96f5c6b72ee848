#!/usr/bin/env python3
"""Known vulnerabilities of the pinned versions, by pip-audit: exit 0 if there are none.

Where it learns nothing of a version, pip-audit leaves it out and calls the rest clean; here that
is a failure, told in one sentence.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 900.0
LINE = (
    *("tool", "run", "pip-audit", "--requirement", str(ROOT / "constraints.txt")),
    *("--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json", "--output"),
)


def findings(dependencies: Sequence[dict[str, Any]]) -> list[str]:
    """What speaks against these, a sentence a line.

    Args:
        dependencies: as pip-audit's JSON has them.
    """
    told = [
        f"audit: {each['name']} {each['version']}: {found['id']}, fixed in"
        f" {', '.join(found['fix_versions']) or 'no version'}"
        for each in dependencies
        for found in each.get("vulns", ())
    ]
    unknown = [each for each in dependencies if "skip_reason" in each]
    if unknown or not dependencies:
        why = f" ({unknown[0]['skip_reason']})" if unknown else ""
        told.append(
            f"audit: nothing was learned of {len(unknown)} of {len(dependencies)} pinned versions,"
            f" as the database of vulnerabilities does not answer for them{why}"
        )
    return told


def main() -> int:
    """Audit and tell; 0 if every version is known, and none has a vulnerability."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        uv = Path(sys.executable).with_name("uv")
        done = run_program([uv, *LINE, answer], timeout_s=TIMEOUT_S)
        if not answer.exists():
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            print(f"audit: pip-audit could not run: {last}", file=sys.stderr)
            return 1
        dependencies = json.loads(answer.read_text(encoding="utf-8"))["dependencies"]
    told = findings(dependencies)
    if told:
        print("\n".join(told), file=sys.stderr)
        return 1
    print(f"audit: no known vulnerability in {len(dependencies)} pinned versions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
