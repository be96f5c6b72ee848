"""What `kgroups doctor` finds of the groups of a cluster."""

from collections.abc import Iterable
from typing import Any

from tests.support.cli.runner import run

Finding = dict[str, Any]
Findings = dict[str, list[Finding]]


def examined(address: str, *words: str) -> dict[str, dict[str, Any]]:
    """The items of one look, by group."""
    outcome = run("doctor", *words, "-b", address, "-o", "json", "--timeout", "60s")
    assert outcome.exit_code in (0, 6), outcome.stderr
    assert outcome.document["errors"] == []
    return {item["group"]: item for item in outcome.document["items"]}


def findings(address: str, *words: str) -> Findings:
    """The findings of one look, by group."""
    return {group: item["findings"] for group, item in examined(address, *words).items()}


def of_code(found: Iterable[Finding], code: str) -> list[Finding]:
    """Those of one code."""
    return [each for each in found if each["code"] == code]


def above_info(found: Iterable[Finding]) -> set[str]:
    """The codes of what is more than worth knowing."""
    return {each["code"] for each in found if each["level"] != "info"}


def only(found: Iterable[Finding], code: str, *beside: str) -> Finding:
    """The one finding of a code; above info nothing else is said.

    Args:
        beside: codes above info that may be there.
    """
    found = list(found)
    (one,) = of_code(found, code)
    assert above_info(found) <= {code, *beside}
    return one
