"""The undo file as text: there and back, in any layout, and everything that is none."""

import io
import json
import tracemalloc
from typing import Any

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.offsets import row_file
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.commit_rows import Replaced, commit_rows
from kgroups.core.offsets.result import planned_of
from kgroups.core.offsets.write_file import (
    UNDO,
    Document,
    WriteFile,
    file_lines,
    read_file,
    with_outcome,
)
from kgroups.core.snapshot import CommittedOffset

ID = "-hSBI-hcR9G2Eci9fdkQXQ"
CHANGES = [
    Change("g\n\u202e\u00e9", "t", 0, CommittedOffset(40, 3, 'memo "x"'), CommittedOffset(100)),
    Change("g\n\u202e\u00e9", "u", 2**31 - 1, None, CommittedOffset(2**63 - 1)),
    Change("h", "t", 0, CommittedOffset(0), None),
    Change("h", "t", 1, CommittedOffset(5), CommittedOffset(6), result="skipped"),
]


def lines_of(changes: list[Change], ids: dict[str, str | None] | None = None) -> list[bytes]:
    """The file of these, as it is written."""
    head = Document(
        schema=UNDO,
        command="reset-offsets",
        cluster_id="c",
        created_at="now",
        topic_ids=ids or {},
        rows=[],
    )
    return list(file_lines(head, commit_rows(planned_of(changes))))


TEXT = b"".join(lines_of(CHANGES, {"t": ID, "u": None})).decode()


def read(text: str | bytes) -> WriteFile:
    """What a file of this text says."""
    return read_file(io.BytesIO(text.encode() if isinstance(text, str) else text), "f", UNDO)


def test_there_and_back() -> None:
    """The planned rows with epoch and metadata, by group, and the ids that are known."""
    undo = read(TEXT)
    assert (undo.cluster_id, undo.topic_ids, undo.topics) == ("c", {"t": ID}, {"t", "u"})
    assert {group: list(rows) for group, rows in undo.commits.items()} == {
        "g\n\u202e\u00e9": [
            Replaced(CHANGES[0].group, "t", 0, CHANGES[0].old, CommittedOffset(100)),
            Replaced(CHANGES[0].group, "u", 2**31 - 1, None, CommittedOffset(2**63 - 1)),
        ],
        "h": [Replaced("h", "t", 0, CommittedOffset(0), None)],
    }
    assert json.loads(TEXT)["schema"] == "kgroups.undo/3"
    assert json.loads(TEXT)["topic_ids"] == {"t": ID, "u": None}
    assert rows_of(read(b"".join(lines_of([])))) == {}


def test_new_commits_with_epoch_and_metadata() -> None:
    """What an undo or a copy writes is in its file whole; a reset's rows have the offset alone."""
    new = [CommittedOffset(7, 3, 'memo "y"'), CommittedOffset(8, 0), CommittedOffset(9, None, "z")]
    changes = [Change("g", "t", n, CommittedOffset(1), each) for n, each in enumerate(new)]
    text = b"".join(lines_of(changes)).decode()
    assert [row.new for row in read(text).commits["g"]] == new
    assert "new_metadata" not in TEXT
    assert "new_leader_epoch" not in TEXT
    for wrong in (
        text.replace('"z"', "5"),
        text.replace("[3,0", "[-3,0"),
        text.replace("0,null", "0"),
    ):
        assert wrong != text
        with pytest.raises(UsageError, match="row"):
            read(wrong)


def rows_of(undo: WriteFile) -> dict[str, list[Replaced]]:
    """The rows by group."""
    return {group: list(rows) for group, rows in undo.commits.items()}


def test_any_layout() -> None:
    """A short file may have been laid out anew."""
    undo = read(json.dumps(json.loads(TEXT), indent=1))
    assert rows_of(undo) == rows_of(read(TEXT))


def test_long_files_are_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, whatever the length; then the layout must be that of the writer."""
    rows, head = rows_of(read(TEXT)), TEXT.splitlines(keepends=True)[0]
    told = with_outcome(TEXT.encode(), {"at": "now", "done": 3})
    assert rows_of(read(told)) == rows
    monkeypatch.setattr(row_file, "WHOLE_BYTES", len(head) + 1)
    assert rows_of(read(TEXT)) == rows_of(read(told)) == rows
    for torn in (TEXT[:-3], TEXT + "x", TEXT.replace(",\n", ", "), head, TEXT[:-40]):
        with pytest.raises(UsageError, match="is not an undo file"):
            read(torn)
    monkeypatch.setattr(row_file, "MAX_ROWS", 1)
    with pytest.raises(UsageError, match="too long"):
        read(TEXT)
    monkeypatch.setattr(row_file, "MAX_LINE_BYTES", 20)
    with pytest.raises(UsageError, match="too long"):
        read(TEXT)


def changes_of(count: int, metadata: str = "") -> list[Change]:
    """So many commits of one group, which share one topic."""
    old, new = CommittedOffset(7, None, metadata), CommittedOffset(8)
    return [Change("g", "t", number, old, new) for number in range(count)]


@pytest.mark.parametrize("metadata", ["", "m" * 100])
def test_long_groups(metadata: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group with many commits, or with long metadata, takes several lines."""
    changes = [*changes_of(9, metadata), Change("g", "u", 0, None, CommittedOffset(1))]
    monkeypatch.setattr("kgroups.core.offsets.commit_rows.ROW_BYTES", 700)
    lines = lines_of(changes)
    rows = json.loads(b"".join(lines))["rows"]
    assert len(rows) > 2
    assert all(len(line) < 700 for line in lines)
    (own,) = read(b"".join(lines)).commits.values()
    assert [row[:4] for row in own] == [change[:4] for change in changes]
    with pytest.raises(UsageError, match="a partition of a group twice"):
        read(b"".join([*lines[:-2], b",\n", lines[1], *lines[-2:]]))


@pytest.mark.parametrize(("name", "most"), [("MAX_ROWS", 1), ("MAX_BYTES", 1_200)])
def test_what_could_not_be_read_back_is_not_written(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One bound for writing and for reading."""
    text = b"".join(lines_of([*changes_of(20), CHANGES[2]]))
    monkeypatch.setattr(row_file, name, most)
    with pytest.raises(UsageError, match="could not be read back; nothing was"):
        lines_of([*changes_of(20), CHANGES[2]])
    if name == "MAX_ROWS":
        with pytest.raises(UsageError, match="too many rows"):
            read(text)


def test_rows_take_little_memory() -> None:
    """Commits stay as they are in the file: there may be millions."""
    text = b"".join(
        lines_of([c._replace(group=f"g{n}") for n in range(100) for c in changes_of(1_000)])
    )
    tracemalloc.start()
    try:
        undo = read(text)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(list(undo.commits["g7"])) == 1_000
    assert held < 100_000 * 64


def _with(**fields: Any) -> str:
    return json.dumps({**json.loads(TEXT), **fields})


def _columns(**columns: Any) -> str:
    """The file with a topic whose columns are different."""
    document = json.loads(TEXT)
    document["rows"][0]["commits"]["t"] |= columns
    return json.dumps(document)


def _group(**fields: Any) -> str:
    """The file with one row of a group that is different."""
    document = json.loads(TEXT)
    document["rows"][0] |= fields
    return json.dumps(document)


BROKEN: dict[str, str | bytes] = {
    "empty": "",
    "torn": TEXT[: len(TEXT) // 2],
    "a list": "[]",
    "a number": "5",
    "another schema": _with(schema="kgroups.list/1"),
    "a schema that is no text": _with(schema=["kgroups.undo/3"]),
    "a later version": _with(schema="kgroups.undo/4"),
    "a field too many": _with(more=1),
    "no cluster": "{" + TEXT[TEXT.index('"created_at"') :],
    "a cluster that is none": _with(cluster_id=5),
    "rows that are none": _with(rows=5),
    "a row that is none": _with(rows=[5]),
    "ids that are none": _with(topic_ids=[]),
    "an id that is none": _with(topic_ids={"t": "5"}),
    "an id that is a number": _with(topic_ids={"t": 5}),
    "an offset of 5,000 digits": TEXT.replace("[100]", "[" + "1" * 5_000 + "]"),
    "an outcome that is none": _with(outcome=5),
    "no number": TEXT.replace("[100]", "[NaN]"),
    "half a surrogate pair": TEXT.replace('"h"', '"\\ud800"'),
    "half a surrogate pair as bytes": TEXT.encode().replace(b'"h"', b'"\xed\xa0\x80"'),
    "no UTF-8": b"\xff" + TEXT.encode(),
    "endless lists": "[" * 1_000_000,
    "endless lists in a row": TEXT.replace("[100]", "[" * 100_000 + "]" * 100_000),
    "endless objects": '{"a":' * 500_000,
    "no commits": _group(commits=5),
    "commits of no topic": _group(commits={"": {"partition": [], "offset": [], "new_offset": []}}),
    "a group of nobody": _group(group=""),
    "an earlier version": _with(schema="kgroups.undo/2"),
    "a group that is a number": _group(group=5),
    "a group that no request can hold": _group(group="g" * 32_768),
    "such a name in other letters": _group(group="\u00e9" * 20_000),
    "a field too many beside the commits": _group(more=1),
    "columns that are none": _group(commits={"t": 5}),
    "a column too many": _columns(more=[1]),
    "no offsets": _columns(offset=None),
    "a column too short": _columns(offset=[]),
    "a column too long": _columns(metadata=["", ""]),
    "a column that is a text": _columns(offset="5"),
    "a column of metadata that is nothing": _columns(metadata=None),
    "metadata that are a number": _columns(metadata=[5]),
    "metadata that no request can hold": _columns(metadata=["m" * 32_768]),
    "a negative offset in a column": _columns(offset=[-1]),
    "an offset of 2^63 in a column": _columns(offset=[2**63]),
    "an offset of 2^70 in a column": _columns(offset=[2**70]),
    "an offset in text": _columns(offset=["5"]),
    "an epoch of 2^31 in a column": _columns(leader_epoch=[2**31]),
    "a negative partition in a column": _columns(partition=[-1]),
    "a yes in a column": _columns(new_offset=[True]),
    "a fraction in a column": _columns(new_offset=[5.0]),
    "a negative epoch in a column": _columns(leader_epoch=[-2]),
    "no partition in a column": _columns(partition=[None]),
    "a partition of 2^31 in a column": _columns(partition=[2**31]),
    "a partition twice in a column": _columns(
        partition=[1, 1], offset=[1, 1], new_offset=[1, 1], leader_epoch=[1, 1], metadata=["", ""]
    ),
    "a partition twice in two rows": _with(rows=json.loads(TEXT)["rows"] * 2),
}


@pytest.mark.parametrize("what", BROKEN)
def test_no_undo_file(what: str) -> None:
    """One sentence says what is wrong, and it is short whatever the file holds."""
    with pytest.raises(UsageError) as caught:
        read(BROKEN[what])
    assert caught.value.message.startswith("`f` is not an undo file: ")
    assert len(caught.value.message) < 200
    assert "\n" not in caught.value.message
