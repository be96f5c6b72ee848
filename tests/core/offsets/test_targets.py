"""The language of targets and scopes, and the CSV of offsets: each form, and each that is none."""

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.offsets.plan_file import parse_offsets
from kgroups.core.offsets.scope import parse_scope, partitions_of
from kgroups.core.offsets.targets import Target, parse_target
from kgroups.core.snapshot import PartitionLog, Topic

NOW_MS = 1_795_223_045_678
HOUR_MS = 3_600_000

TARGETS = {
    "earliest": Target("earliest"),
    "Latest": Target("latest"),
    " current ": Target("current"),
    "next": Target("next", 1),
    "Next:5": Target("next", 5),
    "next:10k": Target("next", 10_000),
    "first": Target("first"),
    "0": Target("offset", 0),
    "1500": Target("offset", 1500),
    "9223372036854775807": Target("offset", 2**63 - 1),
    "+10": Target("shift", 10),
    "-10": Target("shift", -10),
    "1970-01-01T00:00:01Z": Target("time", 1_000),
    "1970-01-01T02:00:00.25+02:00": Target("time", 250),
    "1970-01-02 00:00:00+00:00": Target("time", 24 * HOUR_MS),
    "90m": Target("time", NOW_MS - 90 * 60_000),
    "1h30m": Target("time", NOW_MS - HOUR_MS * 3 // 2),
    "1.5h": Target("time", NOW_MS - HOUR_MS * 3 // 2),
    "2d": Target("time", NOW_MS - 48 * HOUR_MS),
    "1w": Target("time", NOW_MS - 7 * 24 * HOUR_MS),
    "500ms": Target("time", NOW_MS - 500),
    "PT1H30M": Target("time", NOW_MS - HOUR_MS * 3 // 2),
    "p1dt0.5s": Target("time", NOW_MS - 24 * HOUR_MS - 500),
    "committed@90m": Target("committed", NOW_MS - 90 * 60_000),
    "committed@03:00": parse_target("committed@2026-11-20T03:00Z", NOW_MS),
    "committed@1970-01-01T00:00:01Z": Target("committed", 1_000),
    "file:/tmp/a:b.csv": Target("file", name="/tmp/a:b.csv"),
    "group:other:one": Target("group", name="other:one"),
}


@pytest.mark.parametrize("text", TARGETS)
def test_target(text: str) -> None:
    """Each form is read as what it says."""
    assert parse_target(text, NOW_MS) == TARGETS[text]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a target"),
        ("soon", "is not a target"),
        ("next:0", "is not a number above 0"),
        ("next:", "is not a number above 0"),
        ("+", "is not a target"),
        ("--5", "is not a target"),
        ("1.5", "is not a target"),
        ("-1h", "is not a target"),
        ("1h ago", "is not a target"),
        ("committed@", "is not a time"),
        ("committed@2026-11-21T03:00", "has no zone"),
        ("committed@2099-01-01T00:00Z", "is in the future"),
        ("P", "is not a target"),
        ("PT", "is not a target"),
        ("file:", "is not a target"),
        ("group:", "is not a target"),
        ("topic:x", "is not a target"),
        ("١٢", "is not a target"),
        ("9223372036854775808", "larger than any offset"),
        ("2026-11-21T06:00:00", "has no zone"),
        ("2026-11-21", "has no zone"),
        ("2026-13-21T06:00:00Z", "is not a time"),
        ("2026-11-21T25:00:00Z", "is not a time"),
        ("1969-12-31T23:59:59Z", "is before 1970"),
        ("5000w", "is before 1970"),
        ("99999w", "is not a target"),
    ],
)
def test_no_target(text: str, why: str) -> None:
    """Any other text is refused with the reason."""
    with pytest.raises(UsageError, match=why):
        parse_target(text, NOW_MS)


TOPICS = {"orders": Topic("orders", {n: PartitionLog(0, 9) for n in range(4)})}


@pytest.mark.parametrize(
    ("texts", "numbers", "missing"),
    [
        (["orders"], [0, 1, 2, 3], []),
        (["orders:2,0"], [0, 2], []),
        (["orders:1-3"], [1, 2, 3], []),
        (["orders:0,2-3", "orders:2"], [0, 2, 3], []),
        (["orders:0", "orders"], [0, 1, 2, 3], []),
        (["orders:3-5"], [3], ["orders-4", "orders-5"]),
        (["nope", "nope:1", "orders:0"], [0], ["nope"]),
    ],
)
def test_scope(texts: list[str], numbers: list[int], missing: list[str]) -> None:
    """Partitions that exist come once and in order, the others are named."""
    found, errors = partitions_of(parse_scope(texts), TOPICS)
    assert found == [("orders", number) for number in numbers]
    assert [error.target for error in errors] == missing


@pytest.mark.parametrize("text", ["", ":0", "t:", "t:x", "t:0,,1", "t:3-1", "t:-1", "t:0:1"])
def test_no_scope(text: str) -> None:
    """A scope that cannot be read is refused."""
    with pytest.raises(UsageError):
        parse_scope([text])


def test_offsets_of_both_forms() -> None:
    """Three cells are for every group, four name theirs; quotes, blanks, empty lines are fine."""
    three = parse_offsets('"a,b",0, 5\r\n\r\norders,1,6\n', "f.csv")
    assert three == {None: {("a,b", 0): 5, ("orders", 1): 6}}
    four = parse_offsets("g1,orders,0,5\ng2,orders,0,6\n", "f.csv")
    assert four == {"g1": {("orders", 0): 5}, "g2": {("orders", 0): 6}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "orders,0\n",
        "topic,partition,offset\n",
        "orders,0,5\ng,orders,0,5\n",
        "orders,0,-5\n",
        "orders,0,\n",
        "orders,0,5\norders,0,6\n",
        "a,b,c,0,1\n",
        'orders,0,"5\n',
    ],
)
def test_no_offsets(text: str) -> None:
    """A file that could be misread is refused with the line, never taken as offset 0."""
    with pytest.raises(UsageError, match=r"f\.csv"):
        parse_offsets(text, "f.csv")
