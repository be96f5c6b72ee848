"""MirrorMaker 2's checkpoints: bytes by its schemas, prefixes, and what is told of them."""

import pytest

from kgroups.core.offsets.checkpoints import (
    Checkpoint,
    CheckpointKey,
    Checkpoints,
    Translation,
    decode_checkpoint,
    topic_prefix,
    translated_group,
    translations,
)
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.snapshot import CommittedOffset, Group

KEY = bytes.fromhex("0001670003652e7400000002")
VALUE = bytes.fromhex("00000000000000000019000000000000010500046d656d6f")


def test_a_checkpoint() -> None:
    """The key has no version, the value begins with one; a tombstone has none."""
    key = CheckpointKey("g", "e.t", 2)
    assert decode_checkpoint(KEY, VALUE) == (key, Checkpoint(25, 261, "memo"))
    assert decode_checkpoint(KEY, VALUE[:18] + b"\0\0") == (key, Checkpoint(25, 261, ""))
    assert decode_checkpoint(KEY, None) == (key, None)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((KEY[:size], VALUE) for size in range(len(KEY))),
        *((KEY, VALUE[:size]) for size in range(len(VALUE))),
        (None, VALUE),
        (KEY + b"\0", VALUE),
        (KEY, VALUE + b"\0"),
        (KEY[:-4] + b"\xff\xff\xff\xff", VALUE),  # partition -1
        (b"\xff\xff" + KEY[3:], VALUE),  # no group
        (b"\0\1g\0\0" + KEY[-4:], VALUE),  # no topic
        (b"\0\1\xff" + KEY[3:], VALUE),  # not UTF-8
        (b"\x7f\xff" + KEY[2:], VALUE),
        (KEY, b"\0\1" + VALUE[2:]),  # version 1
        (KEY, b"\xff\xff" + VALUE[2:]),
        (KEY, VALUE[:2] + b"\xff" * 8 + VALUE[10:]),  # upstream offset -1
        (KEY, VALUE[:10] + b"\xff" * 8 + VALUE[18:]),  # offset -1: could not be translated
        (KEY, VALUE[:18] + b"\xff\xff"),  # no metadata
        (b"0", b"record"),
    ],
)
def test_what_is_none(key: bytes | None, value: bytes) -> None:
    """Cut short, too long, or of another kind."""
    with pytest.raises(DecodeError):
        decode_checkpoint(key, value)


@pytest.mark.parametrize(
    ("topic", "topics", "prefix"),
    [
        ("us-west.checkpoints.internal", ["us-west.orders", "us-west.a.b"], "us-west."),
        ("us-west.checkpoints.internal", ["us-west.orders", "orders"], ""),
        ("us-west.checkpoints.internal", [], "us-west."),
        ("a_checkpoints_internal", ["a_orders"], "a_"),
        ("a.checkpoints.internal", ["a_orders"], "a_"),
        ("a.checkpoints_internal", ["a.orders"], ""),
        ("my-own", ["my-own.orders"], ""),
    ],
)
def test_prefix(topic: str, topics: list[str], prefix: str) -> None:
    """One policy has named all topics: with the source's alias before them, or without."""
    assert topic_prefix(topic, topics) == prefix


def test_beside_the_source() -> None:
    """Both sides by the names of the target cluster; what is not known is None."""
    found = {("e.t", 0): Checkpoint(20, 100), ("e.t", 1): Checkpoint(20, 90, "m")}
    commits = {0: CommittedOffset(23), 1: CommittedOffset(12), 2: CommittedOffset(5)}
    source = Group("g", "classic", "Empty", offsets={"t": commits})
    first, back, missing = translations(found, "e.", source)
    assert first == Translation(("e.t", 0), found["e.t", 0], 23)
    assert (first.read_again, first.note) == (3, "checkpoint at 20, source at 23: 3 read twice")
    assert back.read_again == 0
    assert back.note == "checkpoint at 20, source at 12: the source group was set back"
    assert missing == Translation(("e.t", 2), None, 5)
    assert (missing.read_again, missing.note) == (None, None)
    told = translated_group("g", [first, back, missing], source_known=True)
    assert (told["translated"], told["missing"], told["read_again"]) == (2, 1, 3)
    alone = translations(found, "e.", None)
    assert [one.read_again for one in alone] == [None, None]
    told = translated_group("g", alone, source_known=False)
    assert (told["translated"], told["missing"], told["read_again"]) == (2, None, None)
    offsets = Checkpoints({"g": found}, "e.").as_group("g").offsets
    assert offsets == {"e.t": {0: CommittedOffset(100), 1: CommittedOffset(90, None, "m")}}
