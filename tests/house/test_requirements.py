"""What is missing is named at the end of a run, and fails one that requires all."""

import sys
from pathlib import Path

import pytest

from tests.support import requirements
from tests.support.kafka.child import run_program
from tests.support.requirements import REQUIREMENTS, Requirement, forbidden_gaps, requires

ROOT = Path(__file__).parents[2]
CONFTEST = """\
from tests.support import requirements
from tests.support.requirements import Requirement
lacking = Requirement(("krb5kdc", "gssapi"), "scripts/kerberos.sh")
requirements.REQUIREMENTS = {"Kerberos": lacking, "Go": Requirement(("go",), "install it")}
def pytest_terminal_summary(terminalreporter):
    requirements.tell_gaps(terminalreporter)
"""
TESTS = """\
import pytest
from tests.support.requirements import requires
pytestmark = requires("Kerberos")
@pytest.mark.parametrize("n", [1, 2])
def test_it(n): assert False
@pytest.mark.parametrize("n", [])
def test_nothing(n): assert False
def test_other(): assert False
"""


def test_nothing_is_missing_where_all_is_required() -> None:
    """`KGROUPS_REQUIRE_ALL=1` wants all of it but what `KGROUPS_MAY_LACK` names."""
    assert forbidden_gaps() == []


def test_what_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is excused by its name; a name that is none is a mistake."""
    gone = Requirement(("a", "b"), "get it")
    monkeypatch.setattr(requirements, "REQUIREMENTS", {**REQUIREMENTS, "Kerberos": gone})
    here = {"KGROUPS_MAY_LACK": ",".join(name for name in REQUIREMENTS if name != "Kerberos")}
    assert forbidden_gaps(here) == []
    required = {**here, "KGROUPS_REQUIRE_ALL": "1"}
    assert forbidden_gaps(required) == ["Kerberos is missing: a, b (get it)"]
    assert forbidden_gaps({**required, "KGROUPS_MAY_LACK": ",".join(REQUIREMENTS)}) == []
    with pytest.raises(KeyError):
        forbidden_gaps({"KGROUPS_MAY_LACK": "Cerberos"})
    assert requires("Kerberos").kwargs["reason"] == "Kerberos is missing: a, b (get it)"


@pytest.mark.share(2)
@pytest.mark.parametrize("processes", ["0", "1"])
def test_named_at_the_end(tmp_path: Path, processes: str) -> None:
    """How many tests, and why; what is missing without a test of its own, too."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-n", processes, "-p", "no:cacheprovider"]
    done = run_program([*command, "--rootdir", str(tmp_path), str(tmp_path)], cwd=ROOT)
    told = [line for line in done.stdout.splitlines() if line.startswith("not run: ")]
    assert sorted(told) == [
        "not run: 4 tests: Kerberos is missing: krb5kdc, gssapi (scripts/kerberos.sh)",
        "not run: Go is missing: go (install it)",
    ]
