"""`lag report` of some groups: those that are there are shown, the others are errors."""

from pathlib import Path

from kgroups.core.lag.captures.collector import write_capture
from tests.support.cli.process import finish
from tests.support.cli.runner import run
from tests.support.lag.made_fleet import fleet


def test_groups_of_captures_by_name_and_glob(tmp_path: Path) -> None:
    """A name that is not there with the one that may be meant, and a glob that fits nothing."""
    write_capture(tmp_path, fleet(1, at_ms=1_000))
    ended = run(
        *("lag", "report", "group-001", "group-00[23]", "gruop-004", "zz*"),
        *("--captures", str(tmp_path), "--since", "1970-01-01T00:00Z", "--until"),
        *("1970-01-02T00:00Z", "--engine", "duckdb", "-o", "json"),
    )
    assert ended.exit_code == 5
    assert {row["group"] for row in ended.document["items"]} == {f"group-00{n}" for n in (1, 2, 3)}
    assert ended.document["summary"]["groups"] == 3
    errors = {error["target"]: error for error in ended.document["errors"]}
    assert errors.keys() == {"gruop-004", "zz*"}
    assert errors["gruop-004"]["code"] == "GROUP_ID_NOT_FOUND"
    assert errors["gruop-004"]["hint"] == "did you mean `group-004`?"


def test_what_duckdb_leaves_is_not_said(tmp_path: Path) -> None:
    """A program of its own says on stderr what it does, and nothing of leaks when it ends."""
    write_capture(tmp_path, fleet(1, at_ms=1_000))
    window = ("--since", "1970-01-01T00:00Z", "--until", "1970-01-02T00:00Z")
    line = ("lag", "report", "--captures", str(tmp_path), *window, "--engine", "duckdb")
    code, _, stderr = finish(*line, "-o", "json")
    assert code == 0
    assert [text.split()[0] for text in stderr.splitlines()] == ["reading", "computing"]
