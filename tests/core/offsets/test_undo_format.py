"""The undo file as text: there and back, in any layout, and everything that is none."""

import io
import json
from typing import Any

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.input_files import row_lines
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.undo_format import Replaced, Undo, read_undo, undo_lines, with_outcome
from kgroups.core.snapshot import CommittedOffset

ID = "-hSBI-hcR9G2Eci9fdkQXQ"
CHANGES = [
    Change("g\n\u202e\u00e9", "t", 0, CommittedOffset(40, 3, 'memo "x"'), CommittedOffset(100)),
    Change("g\n\u202e\u00e9", "u", 2**31 - 1, None, CommittedOffset(2**63 - 1)),
    Change("h", "t", 0, CommittedOffset(0), None),
    Change("h", "t", 1, CommittedOffset(5), CommittedOffset(6), result="skipped"),
]
TEXT = "".join(
    undo_lines(CHANGES, cluster_id="c", topic_ids={"t": ID, "other": ID}, created_at="now")
)


def read(text: str | bytes) -> Undo:
    """What a file of this text says."""
    return read_undo(io.BytesIO(text.encode() if isinstance(text, str) else text), "f")


def test_there_and_back() -> None:
    """The planned rows with epoch and metadata, by group, and the ids that are known."""
    undo = read(TEXT)
    assert (undo.cluster_id, undo.topic_ids, undo.topics) == ("c", {"t": ID}, {"t", "u"})
    assert {group: list(rows) for group, rows in undo.rows.items()} == {
        "g\n\u202e\u00e9": [
            Replaced(CHANGES[0].group, "t", 0, CHANGES[0].old, CommittedOffset(100)),
            Replaced(CHANGES[0].group, "u", 2**31 - 1, None, CommittedOffset(2**63 - 1)),
        ],
        "h": [Replaced("h", "t", 0, CommittedOffset(0), None)],
    }
    assert json.loads(TEXT)["schema"] == "kgroups.undo/2"
    assert json.loads(TEXT)["topic_ids"] == {"t": ID, "u": None}
    empty = "".join(undo_lines([], cluster_id=None, topic_ids={}, created_at="now"))
    assert read(empty) == Undo(None, {}, {})


def test_new_commits_with_epoch_and_metadata() -> None:
    """What an undo or a copy writes is in its file whole; a reset's rows have the offset alone."""
    new = [CommittedOffset(7, 3, 'memo "y"'), CommittedOffset(8, 0), CommittedOffset(9, None, "z")]
    changes = [Change("g", "t", n, CommittedOffset(1), each) for n, each in enumerate(new)]
    text = "".join(undo_lines(changes, cluster_id="c", topic_ids={}, created_at="now"))
    assert [row.new for row in read(text).rows["g"]] == new
    assert "new_metadata" not in TEXT
    for wrong in (text.replace('"z"', "5"), text.replace('h": 3', 'h": -3')):
        with pytest.raises(UsageError, match="row"):
            read(wrong)


def test_version_1() -> None:
    """Files of before are read: no topic id is known."""
    document = json.loads(TEXT)
    del document["topic_ids"]
    undo = read(json.dumps({**document, "schema": "kgroups.undo/1"}))
    assert (undo.rows, undo.topic_ids) == (read(TEXT).rows, {})


def test_long_files_are_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, whatever the length; then the layout must be that of the writer."""
    undo, head = read(TEXT), TEXT.splitlines(keepends=True)[0]
    told = with_outcome(TEXT, {"at": "now", "done": 3})
    assert read(told) == undo
    monkeypatch.setattr(row_lines, "WHOLE_BYTES", len(head) + 1)
    assert read(TEXT) == read(told) == undo
    for torn in (TEXT[:-3], TEXT + "x", TEXT.replace(",\n", ", "), head, TEXT[:-40]):
        with pytest.raises(UsageError, match="is not an undo file"):
            read(torn)
    monkeypatch.setattr(row_lines, "MAX_ROWS", 2)
    with pytest.raises(UsageError, match="more than 2 rows"):
        read(TEXT)
    monkeypatch.setattr(row_lines, "MAX_LINE_BYTES", 20)
    with pytest.raises(UsageError, match="too long"):
        read(TEXT)


def _with(**fields: Any) -> str:
    return json.dumps({**json.loads(TEXT), **fields})


def _row(**fields: Any) -> str:
    """The file with one row that is different."""
    document = json.loads(TEXT)
    document["rows"][1] |= fields
    return json.dumps(document)


def _without(field: str) -> str:
    document = json.loads(TEXT)
    del document["rows"][1][field]
    return json.dumps(document)


BROKEN: dict[str, str | bytes] = {
    "empty": "",
    "torn": TEXT[: len(TEXT) // 2],
    "a list": "[]",
    "a number": "5",
    "another schema": _with(schema="kgroups.list/1"),
    "a schema that is no text": _with(schema=["kgroups.undo/2"]),
    "a later version": _with(schema="kgroups.undo/3"),
    "a field too many": _with(more=1),
    "no cluster": "{" + TEXT[TEXT.index('"created_at"') :],
    "a cluster that is none": _with(cluster_id=5),
    "rows that are none": _with(rows=5),
    "a row that is none": _with(rows=[5]),
    "ids that are none": _with(topic_ids=[]),
    "an id that is none": _with(topic_ids={"t": "5"}),
    "an id that is a number": _with(topic_ids={"t": 5}),
    "a partition twice": _with(rows=[json.loads(TEXT)["rows"][0]] * 2),
    "a negative offset": _row(offset=-1, metadata=""),
    "an offset of 2^70": _row(offset=2**70),
    "an offset of 5,000 digits": TEXT.replace("100}", "1" * 5_000 + "}"),
    "an offset with a point": _row(offset=5.0),
    "an offset in text": _row(offset="5"),
    "a yes for an offset": _row(new_offset=True),
    "an outcome that is none": _with(outcome=5),
    "no number": TEXT.replace("100}", "NaN}"),
    "a negative new offset": _row(new_offset=-1),
    "a negative epoch": _row(offset=1, leader_epoch=-2),
    "an epoch of 2^31": _row(offset=1, leader_epoch=2**31),
    "a negative partition": _row(partition=-1),
    "a partition of 2^31": _row(partition=2**31),
    "no group": _row(group=""),
    "a group that is a number": _row(group=5),
    "a name that no request can hold": _row(group="g" * 32_768),
    "such a name in other letters": _row(topic="\u00e9" * 20_000),
    "metadata that are none": _row(metadata=None),
    "a field of a row too many": _row(more=1),
    "a field of a row too few": _without("metadata"),
    "half a surrogate pair": TEXT.replace('"h"', '"\\ud800"'),
    "half a surrogate pair as bytes": TEXT.encode().replace(b'"h"', b'"\xed\xa0\x80"'),
    "no UTF-8": b"\xff" + TEXT.encode(),
    "endless lists": "[" * 1_000_000,
    "endless lists in a row": TEXT.replace("100}", "[" * 100_000 + "]" * 100_000 + "}"),
    "endless objects": '{"a":' * 500_000,
}


@pytest.mark.parametrize("what", BROKEN)
def test_no_undo_file(what: str) -> None:
    """One sentence says what is wrong, and it is short whatever the file holds."""
    with pytest.raises(UsageError) as caught:
        read(BROKEN[what])
    assert caught.value.message.startswith("`f` is not an undo file: ")
    assert len(caught.value.message) < 200
    assert "\n" not in caught.value.message
