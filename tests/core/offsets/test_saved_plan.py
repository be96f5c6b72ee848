"""Saved plans as text: there and back for each command, and everything that is none."""

import io
import json
from dataclasses import replace
from typing import Any

import pytest

from kgroups.core.errors import RefusedError, UsageError
from kgroups.core.offsets import commit_rows, row_file
from kgroups.core.offsets.commit_rows import Replaced, deleted_rows
from kgroups.core.offsets.row_file import Row
from kgroups.core.offsets.write_file import (
    PLAN,
    Command,
    Document,
    PlannedRecords,
    PlannedRemoval,
    WriteFile,
    file_lines,
    read_file,
)
from kgroups.core.snapshot import CommittedOffset

ID = "-hSBI-hcR9G2Eci9fdkQXQ"
OLD, NEW = CommittedOffset(40, 3, 'memo "x"\u202e'), CommittedOffset(2**63 - 1, None, "m")
COMMITS = {("t", number): CommittedOffset(number, 7) for number in range(6_000)}
"""More than a row holds."""
CHANGES: dict[Command, list[Replaced]] = {
    "reset-offsets": [
        Replaced("g\n", "t", 0, OLD, NEW),
        Replaced("g\n", "t", 1, None, OLD),
        Replaced("g\n", "u", 1, CommittedOffset(1), CommittedOffset(0)),
        Replaced("h", "t", 1, CommittedOffset(1, 2), CommittedOffset(0)),
    ],
    "copy-offsets": [Replaced("\u00e9", "t", 2**31 - 1, OLD, NEW)],
    "delete-offsets": [Replaced("g", "t", 0, OLD, None)],
}
ROWS: dict[Command, list[Row]] = {
    **{command: [*commit_rows.commit_rows(changes)] for command, changes in CHANGES.items()},
    "delete": [*deleted_rows("g", "Empty", COMMITS), *deleted_rows("h", None, {})],
    "delete-records": [PlannedRecords("t", 0, 5, 2**63 - 1, 2**63 - 1)],
    "remove-members": [PlannedRemoval("g", "m-1", None, "", "/10.0.0.5", "gone")],
}


def text_of(command: Command, rows: list[Row] | None = None) -> str:
    """A plan of this command."""
    own = ROWS[command] if rows is None else rows
    head = Document(
        schema=PLAN,
        command=command,
        cluster_id="c",
        created_at="now",
        topic_ids={"t": ID},
        rows=[],
    )
    lines = file_lines(head, own)
    return b"".join(lines).decode()


def read(text: str | bytes) -> WriteFile:
    """What a file of this text says."""
    return read_file(io.BytesIO(text.encode() if isinstance(text, str) else text), "f", PLAN)


@pytest.mark.parametrize("command", ROWS)
def test_there_and_back(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any layout, and line by line where it is long."""
    text = text_of(command)
    plan = read(text)
    assert (plan.command, plan.cluster_id, plan.topic_ids) == (command, "c", {"t": ID})
    assert plan.records == (ROWS[command] if command == "delete-records" else [])
    assert plan.removals == (ROWS[command] if command == "remove-members" else [])
    assert same(read(json.dumps(json.loads(text), indent=1)), plan)
    empty = read(text_of(command, []))
    assert (empty.commits, empty.records, empty.removals) == ({}, [], [])
    monkeypatch.setattr(row_file, "WHOLE_BYTES", len(text.splitlines()[0]) + 1)
    assert same(read(text), plan)
    with pytest.raises(UsageError, match="checksum does not match"):
        read(text.replace('"cluster_id":"c"', '"cluster_id":"d"'))


def commits_of(plan: WriteFile) -> list[Replaced]:
    """Every commit of a plan."""
    return [row for rows in plan.commits.values() for row in rows]


def same(one: WriteFile, other: WriteFile) -> bool:
    """Whether two plans say the same."""
    return commits_of(one) == commits_of(other) and (
        replace(one, commits={}) == replace(other, commits={})
    )


def test_a_deletion_holds_what_was_committed() -> None:
    """Each commit of the group, in as many rows as it takes; a group may have none."""
    document = json.loads(text_of("delete"))
    assert [row.get("state") for row in document["rows"]] == ["Empty", "Empty", None]
    plan = read(text_of("delete"))
    assert list(plan.commits) == ["g", "h"]
    assert {(row.topic, row.partition): row.old for row in plan.commits["g"]} == COMMITS
    assert list(plan.commits["h"]) == []


def _with(**fields: Any) -> str:
    return json.dumps({**json.loads(text_of("reset-offsets")), **fields})


def _row(command: Command = "reset-offsets", **fields: Any) -> str:
    """A plan with one row that is different."""
    document = json.loads(text_of(command))
    document["rows"][0] |= fields
    return json.dumps(document)


def _column(**columns: Any) -> str:
    """A plan whose first row has other columns for a topic."""
    document = json.loads(text_of("reset-offsets"))
    document["rows"][0]["commits"]["t"] |= columns
    return json.dumps(document)


def _without(field: str) -> str:
    document = json.loads(text_of("reset-offsets"))
    del document[field]
    return json.dumps(document)


BROKEN: dict[str, str | bytes] = {
    "empty": "",
    "torn": text_of("reset-offsets")[:200],
    "a list": "[]",
    "an undo file": '{"schema": "kgroups.undo/2", "rows": []}',
    "an earlier version": _with(schema="kgroups.saved-plan/1"),
    "a later version": _with(schema="kgroups.saved-plan/3"),
    "another command": _with(command="delete-offsets-all"),
    "a command that is a list": _with(command=["delete"]),
    "the rows of another command": _with(command="delete"),
    "another cluster": _with(cluster_id="d"),
    "another time": _with(created_at="then"),
    "another topic": _with(topic_ids={}),
    "an id that is none": _with(topic_ids={"t": 5}),
    "a field too many": _with(more=1),
    "no checksum": _without("checksum"),
    "no cluster": _without("cluster_id"),
    "a checksum that is none": _with(checksum=5),
    "a row less": _with(rows=json.loads(text_of("reset-offsets"))["rows"][:1]),
    "the rows turned round": _with(rows=json.loads(text_of("reset-offsets"))["rows"][::-1]),
    "a row twice": _with(rows=json.loads(text_of("reset-offsets"))["rows"][:1] * 2),
    "a partition twice": _column(partition=[1, 1]),
    "another offset": _column(new_offset=[5, 40]),
    "an offset of 2^70": _column(new_offset=[2**70, 40]),
    "a negative offset": _column(offset=[-1, None]),
    "an epoch of 2^31": _column(new_leader_epoch=[2**31, None]),
    "an offset too few": _column(new_offset=[40]),
    "a column that is none": _column(more=[1, 1]),
    "no group": _row(group=""),
    "a field of a row too many": _row(more=1),
    "nested rows": _column(metadata=json.loads("[" * 300 + "]" * 300)),
    "a nested commit": _row("delete", commits=[["t", 0, 5]]),
    "a commit of before twice": _with(
        command="delete", rows=[json.loads(text_of("delete"))["rows"][0]] * 2
    ),
    "a member without an id": _row("remove-members", member_id=""),
    "a log start that is none": _row("delete-records", old_start=None),
    "half a surrogate pair": text_of("reset-offsets").replace('"m"', '"\\ud800"'),
    "endless lists": "[" * 1_000_000,
}


@pytest.mark.parametrize("what", BROKEN)
def test_no_saved_plan(what: str) -> None:
    """One sentence says what is wrong, and it is short whatever the file holds."""
    with pytest.raises(UsageError) as caught:
        read(BROKEN[what])
    assert caught.value.message.startswith("`f` is not a saved plan: ")
    assert len(caught.value.message) < 250
    assert "\n" not in caught.value.message


def test_of_another_cluster() -> None:
    """Refused, exit 4."""
    plan = read(text_of("delete"))
    plan.check_cluster("c")
    with pytest.raises(RefusedError) as caught:
        plan.check_cluster("d")
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("command", CHANGES)
def test_commits_come_back_as_they_were(command: Command) -> None:
    """Each of them, with epoch and metadata."""
    assert commits_of(read(text_of(command))) == CHANGES[command]


def test_long_groups() -> None:
    """More commits than a line holds take several lines, and stay one group."""
    changes = [
        Replaced("g", "t", number, CommittedOffset(number), CommittedOffset(0))
        for number in range(12_000)
    ]
    text = text_of("reset-offsets", [*commit_rows.commit_rows(changes)])
    assert len(json.loads(text)["rows"]) == 3
    plan = read(text)
    assert list(plan.commits) == ["g"]
    assert commits_of(plan) == changes


@pytest.mark.slow("half a million commits: seconds; the same rules on few are above")
def test_half_a_million_commits() -> None:
    """480,000 commits of 20,000 groups are saved in some MB and read back as they were."""
    changes = [
        Replaced(f"g{group}", "t", number, CommittedOffset(10**9 + number), CommittedOffset(0))
        for group in range(20_000)
        for number in range(24)
    ]
    text = text_of("reset-offsets", [*commit_rows.commit_rows(changes)])
    assert len(text) < 10_000_000
    assert commits_of(read(text)) == changes


@pytest.mark.parametrize("command", ["reset-offsets", "delete"])
def test_more_rows_than_any(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be read again is not written; nor is it read."""
    text = text_of(command)
    monkeypatch.setattr(row_file, "MAX_ROWS", 1)
    with pytest.raises(UsageError, match="too large to be read back"):
        text_of(command)
    with pytest.raises(UsageError, match="too many rows"):
        read(text)


def test_too_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has a length, too."""
    monkeypatch.setattr(row_file, "MAX_BYTES", 1_200)
    with pytest.raises(UsageError, match="too large to be read back"):
        text_of("reset-offsets")
