"""Undo files and saved plans as text: there and back in any layout, and what is none."""

import io
import json
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from kgroups.core.errors import RefusedError, UsageError
from kgroups.core.offsets import row_file
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.commit_rows import Replaced, commit_rows, deleted_rows
from kgroups.core.offsets.result import planned_of
from kgroups.core.offsets.row_file import Row
from kgroups.core.offsets.write_file import (
    KINDS,
    PLAN,
    UNDO,
    Command,
    Document,
    PlannedRecords,
    PlannedRemoval,
    Schema,
    WriteFile,
    file_lines,
    read_file,
    with_outcome,
)
from kgroups.core.snapshot import CommittedOffset

ID = "-hSBI-hcR9G2Eci9fdkQXQ"
IDS: dict[str, str | None] = {"t": ID, "u": None}
OLD, NEW = CommittedOffset(40, 3, 'memo "x"\u202e'), CommittedOffset(2**63 - 1, None, "m")
COMMITS = {("t", number): CommittedOffset(number, 7) for number in range(6_000)}
"""More than a row holds."""
CHANGES: dict[Command, list[Replaced]] = {
    "reset-offsets": [
        Replaced("g\n\u202e\u00e9", "t", 0, OLD, CommittedOffset(100)),
        Replaced("g\n\u202e\u00e9", "u", 2**31 - 1, None, CommittedOffset(2**63 - 1)),
        Replaced("h", "t", 0, CommittedOffset(0, 2), CommittedOffset(5)),
    ],
    "copy-offsets": [
        Replaced("\u00e9", "t", 2**31 - 1, OLD, NEW),
        *(Replaced("e", "t", epoch or 3, OLD, CommittedOffset(8, epoch, "y")) for epoch in (0, 5)),
    ],
    "delete-offsets": [Replaced("g", "t", 0, OLD, None)],
}
ROWS: dict[Command, list[Row]] = {
    **{command: [*commit_rows(changes)] for command, changes in CHANGES.items()},
    "delete": [*deleted_rows("g", "Empty", COMMITS), *deleted_rows("h", None, {})],
    "delete-records": [PlannedRecords("t", 0, 5, 2**63 - 1, 2**63 - 1)],
    "remove-members": [PlannedRemoval("g", "m-1", None, "", "/10.0.0.5", "gone")],
}


def lines_of(
    schema: Schema, command: Command = "reset-offsets", rows: list[Row] | None = None
) -> list[bytes]:
    """A file of this command, as it is written."""
    head = Document(
        schema=schema, command=command, cluster_id="c", created_at="now", topic_ids=IDS, rows=[]
    )
    return list(file_lines(head, ROWS[command] if rows is None else rows))


def text_of(
    schema: Schema, command: Command = "reset-offsets", rows: list[Row] | None = None
) -> str:
    """The same as one text."""
    return b"".join(lines_of(schema, command, rows)).decode()


def read(text: str | bytes, schema: Schema = UNDO) -> WriteFile:
    """What a file of this text says."""
    return read_file(io.BytesIO(text.encode() if isinstance(text, str) else text), "f", schema)


TEXT = text_of(UNDO)


def commits_of(file: WriteFile) -> list[Replaced]:
    """Every commit of a file."""
    return [row for rows in file.commits.values() for row in rows]


def same(one: WriteFile, other: WriteFile) -> bool:
    """Whether two files say the same."""
    return commits_of(one) == commits_of(other) and (
        replace(one, commits={}) == replace(other, commits={})
    )


@pytest.mark.parametrize("command", ROWS)
@pytest.mark.parametrize("schema", KINDS)
def test_there_and_back(schema: Schema, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """With epoch and metadata and the ids that are known; in any layout, and line by line."""
    text = text_of(schema, command)
    file = read(text, schema)
    assert (file.command, file.cluster_id, file.topic_ids) == (command, "c", {"t": ID})
    assert json.loads(text)["topic_ids"] == IDS
    if command in CHANGES:
        assert commits_of(file) == CHANGES[command]
        assert file.topics == {row.topic for row in CHANGES[command]}
        assert list(file.commits) == [*dict.fromkeys(row.group for row in CHANGES[command])]
    assert file.records == (ROWS[command] if command == "delete-records" else [])
    assert file.removals == (ROWS[command] if command == "remove-members" else [])
    assert same(read(json.dumps(json.loads(text), indent=1), schema), file)
    empty = read(text_of(schema, command, []), schema)
    assert (empty.commits, empty.records, empty.removals) == ({}, [], [])
    monkeypatch.setattr(row_file, "WHOLE_BYTES", len(text.splitlines()[0]) + 1)
    assert same(read(text, schema), file)
    if schema == PLAN:
        with pytest.raises(UsageError, match="checksum does not match"):
            read(text.replace('"cluster_id":"c"', '"cluster_id":"d"'), schema)


def test_what_is_planned_is_what_an_undo_holds() -> None:
    """Rows that are skipped are left out."""
    changes = [
        Change("h", "t", 0, CommittedOffset(0), None),
        Change("h", "t", 1, CommittedOffset(5), CommittedOffset(6), result="skipped"),
    ]
    told = [Replaced("h", "t", 0, CommittedOffset(0), None)]
    assert commits_of(read(text_of(UNDO, rows=[*commit_rows(planned_of(changes))]))) == told


def test_new_commits_with_epoch_and_metadata() -> None:
    """What an undo or a copy writes is in its file whole; a reset's rows have the offset alone."""
    assert "new_metadata" not in TEXT
    assert "new_leader_epoch" not in TEXT
    text = text_of(UNDO, "copy-offsets")
    for was, wrong in (('"y"', "5"), ("[0,5", "[-3,5"), ("[0,5", "[0")):
        assert was in text
        with pytest.raises(UsageError, match="row"):
            read(text.replace(was, wrong))


def test_long_files_are_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, whatever the length; then the layout must be that of the writer."""
    rows, head = commits_of(read(TEXT)), TEXT.splitlines(keepends=True)[0]
    told = with_outcome(TEXT.encode(), {"at": "now", "done": 3})
    assert commits_of(read(told)) == rows
    monkeypatch.setattr(row_file, "WHOLE_BYTES", len(head) + 1)
    assert commits_of(read(TEXT)) == commits_of(read(told)) == rows
    for torn in (TEXT[:-3], TEXT + "x", TEXT.replace(",\n", ", "), head, TEXT[:-40]):
        with pytest.raises(UsageError, match="is not an undo file"):
            read(torn)
    monkeypatch.setattr(row_file, "MAX_ROWS", 1)
    with pytest.raises(UsageError, match="too long"):
        read(TEXT)
    monkeypatch.setattr(row_file, "MAX_LINE_BYTES", 20)
    with pytest.raises(UsageError, match="too long"):
        read(TEXT)


def test_a_deletion_holds_what_was_committed() -> None:
    """Each commit of the group, in as many rows as it takes; a group may have none."""
    text = text_of(PLAN, "delete")
    assert [row.get("state") for row in json.loads(text)["rows"]] == ["Empty", "Empty", None]
    plan = read(text, PLAN)
    assert list(plan.commits) == ["g", "h"]
    assert {(row.topic, row.partition): row.old for row in plan.commits["g"]} == COMMITS
    assert list(plan.commits["h"]) == []


def changes_of(count: int, metadata: str = "", group: str = "g") -> list[Replaced]:
    """So many commits of one group, which share one topic."""
    old, new = CommittedOffset(7, None, metadata), CommittedOffset(10**9)
    return [Replaced(group, "t", number, old, new) for number in range(count)]


@pytest.mark.parametrize("metadata", ["", "m" * 100])
def test_long_groups(metadata: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group with many commits, or with long metadata, takes several lines, and stays one."""
    changes = [*changes_of(9, metadata), Replaced("g", "u", 0, None, CommittedOffset(1))]
    monkeypatch.setattr("kgroups.core.offsets.commit_rows.ROW_BYTES", 700)
    lines = lines_of(UNDO, rows=[*commit_rows(changes)])
    assert len(json.loads(b"".join(lines))["rows"]) > 2
    assert all(len(line) < 700 for line in lines)
    file = read(b"".join(lines))
    assert (list(file.commits), commits_of(file)) == (["g"], changes)
    with pytest.raises(UsageError, match="a partition of a group twice"):
        read(b"".join([*lines[:-2], b",\n", lines[1], *lines[-2:]]))


@pytest.mark.slow("half a million commits: seconds; the same rules on few are above")
def test_half_a_million_commits() -> None:
    """480,000 commits of 20,000 groups are saved in some MB and read back as they were."""
    changes = [row for group in range(20_000) for row in changes_of(24, group=f"g{group}")]
    text = text_of(PLAN, rows=[*commit_rows(changes)])
    assert len(text) < 10_000_000
    assert commits_of(read(text, PLAN)) == changes


@pytest.mark.parametrize(("name", "most"), [("MAX_ROWS", 1), ("MAX_BYTES", 1_200)])
@pytest.mark.parametrize("command", ["reset-offsets", "delete"])
@pytest.mark.parametrize("schema", KINDS)
def test_what_could_not_be_read_back_is_not_written(
    schema: Schema, command: Command, name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One bound for writing and for reading."""
    text = text_of(schema, command)
    monkeypatch.setattr(row_file, name, most)
    with pytest.raises(UsageError, match="be read back"):
        text_of(schema, command)
    if name == "MAX_ROWS":
        with pytest.raises(UsageError, match="too many rows"):
            read(text, schema)


def test_rows_take_little_memory() -> None:
    """Commits stay as they are in the file: there may be millions."""
    changes = [row for n in range(100) for row in changes_of(1_000, group=f"g{n}")]
    text = text_of(UNDO, rows=[*commit_rows(changes)]).encode()
    tracemalloc.start()
    try:
        undo = read(text)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(list(undo.commits["g7"])) == 1_000
    assert held < 100_000 * 64


def _undo(**fields: Any) -> str:
    return json.dumps({**json.loads(TEXT), **fields})


def _plan(**fields: Any) -> str:
    return json.dumps({**json.loads(text_of(PLAN)), **fields})


def _row(*, text: str = TEXT, **fields: Any) -> str:
    """A file with one row that is different."""
    document = json.loads(text)
    document["rows"][0] |= fields
    return json.dumps(document)


def _column(*, text: str = TEXT, **columns: Any) -> str:
    """A file with a topic whose columns are different."""
    document = json.loads(text)
    document["rows"][0]["commits"]["t"] |= columns
    return json.dumps(document)


NO_UNDO: dict[str, str | bytes] = {
    "empty": "",
    "torn": TEXT[: len(TEXT) // 2],
    "a list": "[]",
    "a number": "5",
    "another schema": _undo(schema="kgroups.list/1"),
    "a schema that is no text": _undo(schema=["kgroups.undo/3"]),
    "a later version": _undo(schema="kgroups.undo/4"),
    "a field too many": _undo(more=1),
    "no cluster": "{" + TEXT[TEXT.index('"created_at"') :],
    "a cluster that is none": _undo(cluster_id=5),
    "rows that are none": _undo(rows=5),
    "a row that is none": _undo(rows=[5]),
    "ids that are none": _undo(topic_ids=[]),
    "an id that is none": _undo(topic_ids={"t": "5"}),
    "an id that is a number": _undo(topic_ids={"t": 5}),
    "an offset of 5,000 digits": TEXT.replace("[100]", "[" + "1" * 5_000 + "]"),
    "an outcome that is none": _undo(outcome=5),
    "no number": TEXT.replace("[100]", "[NaN]"),
    "half a surrogate pair": TEXT.replace('"h"', '"\\ud800"'),
    "half a surrogate pair as bytes": TEXT.encode().replace(b'"h"', b'"\xed\xa0\x80"'),
    "no UTF-8": b"\xff" + TEXT.encode(),
    "endless lists": "[" * 1_000_000,
    "endless lists in a row": TEXT.replace("[100]", "[" * 100_000 + "]" * 100_000),
    "endless objects": '{"a":' * 500_000,
    "no commits": _row(commits=5),
    "commits of no topic": _row(commits={"": {"partition": [], "offset": [], "new_offset": []}}),
    "a group of nobody": _row(group=""),
    "an earlier version": _undo(schema="kgroups.undo/2"),
    "a group that is a number": _row(group=5),
    "a group that no request can hold": _row(group="g" * 32_768),
    "such a name in other letters": _row(group="\u00e9" * 20_000),
    "a field too many beside the commits": _row(more=1),
    "columns that are none": _row(commits={"t": 5}),
    "a column too many": _column(more=[1]),
    "no offsets": _column(offset=None),
    "a column too short": _column(offset=[]),
    "a column too long": _column(metadata=["", ""]),
    "a column that is a text": _column(offset="5"),
    "a column of metadata that is nothing": _column(metadata=None),
    "metadata that are a number": _column(metadata=[5]),
    "metadata that no request can hold": _column(metadata=["m" * 32_768]),
    "a negative offset in a column": _column(offset=[-1]),
    "an offset of 2^63 in a column": _column(offset=[2**63]),
    "an offset of 2^70 in a column": _column(offset=[2**70]),
    "an offset in text": _column(offset=["5"]),
    "an epoch of 2^31 in a column": _column(leader_epoch=[2**31]),
    "a negative partition in a column": _column(partition=[-1]),
    "a yes in a column": _column(new_offset=[True]),
    "a fraction in a column": _column(new_offset=[5.0]),
    "a negative epoch in a column": _column(leader_epoch=[-2]),
    "no partition in a column": _column(partition=[None]),
    "a partition of 2^31 in a column": _column(partition=[2**31]),
    "a partition twice in a column": _column(
        partition=[1, 1], offset=[1, 1], new_offset=[1, 1], leader_epoch=[1, 1], metadata=["", ""]
    ),
    "a partition twice in two rows": _undo(rows=json.loads(TEXT)["rows"] * 2),
}
NO_PLAN: dict[str, str | bytes] = {
    "an undo file": TEXT,
    "a plan that is torn": text_of(PLAN)[:200],
    "an earlier version of a plan": _plan(schema="kgroups.saved-plan/1"),
    "another command": _plan(command="delete-offsets-all"),
    "a command that is a list": _plan(command=["delete"]),
    "the rows of another command": _plan(command="delete"),
    "another cluster": _plan(cluster_id="d"),
    "another time": _plan(created_at="then"),
    "another topic": _plan(topic_ids={}),
    "no checksum": _plan(checksum=None),
    "a checksum that is none": _plan(checksum=5),
    "a row less": _plan(rows=json.loads(TEXT)["rows"][:1]),
    "the rows turned round": _plan(rows=json.loads(TEXT)["rows"][::-1]),
    "another offset": _column(text=text_of(PLAN), new_offset=[101]),
    "a nested commit": _row(text=text_of(PLAN, "delete"), commits=[["t", 0, 5]]),
    "a commit of before twice": _plan(
        command="delete", rows=json.loads(text_of(PLAN, "delete"))["rows"][:1] * 2
    ),
    "a member without an id": _row(text=text_of(PLAN, "remove-members"), member_id=""),
    "a log start that is none": _row(text=text_of(PLAN, "delete-records"), old_start=None),
}


@pytest.mark.parametrize("what", [*NO_UNDO, *NO_PLAN])
def test_no_such_file(what: str) -> None:
    """One sentence says what is wrong, and it is short whatever the file holds."""
    schema, text = (UNDO, NO_UNDO[what]) if what in NO_UNDO else (PLAN, NO_PLAN[what])
    with pytest.raises(UsageError) as caught:
        read(text, schema)
    assert caught.value.message.startswith(f"`f` is not {KINDS[schema].name}: ")
    assert len(caught.value.message) < 200
    assert "\n" not in caught.value.message


def test_of_another_cluster() -> None:
    """Refused, exit 4."""
    plan = read(text_of(PLAN, "delete"), PLAN)
    plan.check_cluster("c")
    with pytest.raises(RefusedError) as caught:
        plan.check_cluster("d")
    assert caught.value.exit_code == 4
