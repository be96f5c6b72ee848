"""What some tests need and not every machine has. Its absence is never silent.

Tests that need it are skipped with a reason, which the end of every run shows. With
`KGROUPS_REQUIRE_ALL=1` its absence fails the run, unless `KGROUPS_MAY_LACK` names it: that is how
`.ci/run` says that it tried to install it and could not.
"""

import os
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pytest

from tests.support.kafka import kdc
from tests.support.kafka.loopback import HAS_IPV6
from tests.support.pages import browser


@dataclass(frozen=True)
class Requirement:
    """Something that tests need.

    Args:
        missing: the parts of it that are not here.
        remedy: how to get it.
    """

    missing: tuple[str, ...]
    remedy: str


_EMPTY: Final = "got empty parameter set"
"""pytest's reason for a test that has no case here."""


def _absent(*programs: str) -> tuple[str, ...]:
    return tuple(name for name in programs if shutil.which(name) is None)


REQUIREMENTS: Final[Mapping[str, Requirement]] = {
    "Kerberos": Requirement(kdc.MISSING, "scripts/kerberos.sh"),
    "Chromium": Requirement(() if browser.PROGRAM else ("chromium",), "scripts/chromium.sh"),
    "Go": Requirement(_absent("go"), "on Debian, apt-get install golang"),
    "Node.js": Requirement(_absent("node"), "on Debian, apt-get install nodejs npm"),
    "a reader of man pages": Requirement(
        ("groff or mandoc",) if len(_absent("groff", "mandoc")) == 2 else (),
        "on Debian, apt-get install groff",
    ),
    "tmux": Requirement(_absent("tmux"), "on Debian, apt-get install tmux"),
    "IPv6": Requirement(() if HAS_IPV6 else ("an address ::1",), "enable IPv6 on loopback"),
}
"""By the name that `requires` and `KGROUPS_MAY_LACK` (comma-separated) know it by."""


def reason_of(name: str) -> str:
    """Why tests that need it do not run, in one line; empty when it is here."""
    wanted = REQUIREMENTS[name]
    if not wanted.missing:
        return ""
    return f"{name} is missing: {', '.join(wanted.missing)} ({wanted.remedy})"


def requires(name: str) -> pytest.MarkDecorator:
    """Marks tests that are skipped where it is missing."""
    reason = reason_of(name)
    return pytest.mark.skipif(bool(reason), reason=reason)


def forbidden_gaps(environment: Mapping[str, str] = os.environ) -> list[str]:
    """What is missing although all is required, a line each.

    Raises:
        KeyError: `KGROUPS_MAY_LACK` names what is no requirement.
    """
    excused = [name for name in environment.get("KGROUPS_MAY_LACK", "").split(",") if name]
    for name in excused:
        REQUIREMENTS[name]
    if environment.get("KGROUPS_REQUIRE_ALL") != "1":
        return []
    return [reason for name in REQUIREMENTS if name not in excused and (reason := reason_of(name))]


def tell_gaps(reporter: pytest.TerminalReporter) -> None:
    """At the end of a run: what is missing, and how many tests were skipped for which reason."""
    skipped = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in reporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    lines = [reason for name in REQUIREMENTS if (reason := reason_of(name))]
    told = [f"{count} tests: {reason}" for reason, count in skipped.items() if count]
    told += [reason for reason in lines if reason not in skipped]
    told = [each for each in told if _EMPTY not in each]  # of what is missing, which is told
    if told:
        reporter.section("not run")
        for each in told:
            reporter.write_line(f"not run: {each}")
