"""The house itself: licences listed, known vulnerabilities told."""

import sys
from pathlib import Path

from scripts.audit import findings
from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[2]


def test_licences_are_listed() -> None:
    """docs/licences.md has every distribution that the package requires, in its pinned version."""
    done = run_program([sys.executable, ROOT / "scripts" / "licences.py", "check"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


KNOWN = {"name": "a", "version": "1.0", "vulns": []}
BAD = {"name": "b", "version": "2.0", "vulns": [{"id": "CVE-1", "fix_versions": ["2.1", "3.0"]}]}
UNKNOWN = {"name": "c", "skip_reason": "c cannot be found"}


def test_an_audit_that_learned_nothing_is_none() -> None:
    """`make audit` passes only if something is known of every version, and nothing bad."""
    assert findings([KNOWN]) == []
    assert findings([KNOWN, BAD]) == ["audit: b 2.0: CVE-1, fixed in 2.1, 3.0"]
    told, unknown = findings([BAD, UNKNOWN, KNOWN])
    assert "CVE-1" in told
    assert unknown.startswith("audit: nothing was learned of 1 of 3 pinned versions")
    assert unknown.endswith("(c cannot be found)")
    assert findings([])
