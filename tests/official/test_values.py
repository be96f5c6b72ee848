"""Values of options: scopes, moments, spans, files, JSON; one case a row."""

import json
from pathlib import Path

import pytest

from kgroups.cli.official.actions.official_csv import plan_text, read_plan
from kgroups.cli.official.actions.reset_scope import offsets_since
from kgroups.cli.official.actions.values import moment_ms, scope_of, span_ms
from kgroups.cli.official.arguments import LateError
from kgroups.cli.official.records import BadFile, offsets_of
from kgroups.cli.official.tools import CONSUMER_TOOL, SHARE_TOOL, STREAMS_TOOL, Tool
from kgroups.cli.official.validation import Misuse, states_of, types_of
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.offsets.scope import Scope
from tests.support.official.running import run_ours

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("values", "topics", "partitions"),
    [
        (["t"], ("t",), ()),
        (["t", "u", "t"], ("t", "u"), ()),
        (["t:0"], (), (("t", 0),)),
        (["t:2,0,2"], (), (("t", 2), ("t", 0))),
        (["t:0,1,"], (), (("t", 0), ("t", 1))),
        (["a,b"], ("a,b",), ()),
        (["t:-1"], (), (("t", -1),)),
    ],
)
def test_scope(
    values: list[str], topics: tuple[str, ...], partitions: tuple[tuple[str, int], ...]
) -> None:
    """Whole topics and single partitions."""
    assert scope_of(values) == Scope(topics, partitions)


@pytest.mark.parametrize("text", ["t:", "t:0:1", "t:0,,1", "t: 0", "t:,0", "t:x", ":"])
def test_scope_refused(text: str) -> None:
    """Two kinds of refusal, both name the value."""
    with pytest.raises(Misuse, match=r"Invalid (topic arg|partition)"):
        scope_of([text])


@pytest.mark.parametrize(
    ("text", "time_ms"),
    [
        ("1970-01-01T00:00:01.000", 1_000),
        ("1970-01-01T00:00:01", 1_000),
        ("1970-01-01T00:00:01.5", 1_500),
        ("1970-01-01T00:00:01.123456", 1_123),
        ("1970-01-02T00:00:00.000Z", DAY_MS),
        ("1970-01-01T05:30:00.000+05:30", 0),
        ("1970-01-01T05:30:00.000+0530", 0),
        ("1970-01-01T00:00:00.000-01", 3_600_000),
    ],
)
def test_moment(text: str, time_ms: int) -> None:
    """UTC without a zone; a fraction is a fraction, and a zone a whole one."""
    assert moment_ms(text) == time_ms


@pytest.mark.parametrize(
    "text",
    ["2020-01-01", "2020-13-01T00:00:00.000", "2020-01-01T00:00", "2020-01-01T00:00:00Zx", "T"],
)
def test_moment_refused(text: str) -> None:
    """As the Java parser says it."""
    with pytest.raises(LateError, match=r"java\.text\.ParseException"):
        moment_ms(text)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("P1D", DAY_MS),
        ("PT1H30M", 5_400_000),
        ("pt0.1s", 100),
        ("-PT1H", -3_600_000),
        ("PT-1H", -3_600_000),
        ("P2DT3S", 2 * DAY_MS + 3_000),
        ("+PT1M", 60_000),
    ],
)
def test_span(text: str, span: int) -> None:
    """Days to seconds, with signs."""
    assert span_ms(text) == span


@pytest.mark.parametrize("text", ["", "P", "PT", "P1W", "P1M", "1h", "P1DT", "PT1D"])
def test_span_refused(text: str) -> None:
    """No weeks, months or years."""
    with pytest.raises(LateError, match="Text cannot be parsed to a Duration"):
        span_ms(text)


@pytest.mark.parametrize(
    ("tool", "text", "states"),
    [
        (CONSUMER_TOOL, None, ()),
        (CONSUMER_TOOL, "", ()),
        (CONSUMER_TOOL, ",", ()),
        (CONSUMER_TOOL, "stable", ("Stable",)),
        (CONSUMER_TOOL, "STABLE, empty,", ("Stable", "Empty")),
        (SHARE_TOOL, " EMPTY , dead,", ("Empty", "Dead")),
        (STREAMS_TOOL, "notREADY,assigning", ("NotReady", "Assigning")),
        (STREAMS_TOOL, "Reconciling", ("Reconciling",)),
    ],
)
def test_states(tool: Tool, text: str | None, states: tuple[str, ...]) -> None:
    """Any case, trimmed, empty items at the end left out."""
    assert states_of(text, tool.states) == states


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        *((CONSUMER_TOOL, text) for text in ("bogus", "  ,  ,", ", Stable", "Stable Empty", " ")),
        *((CONSUMER_TOOL, text) for text in ("NotReady", "bad, wrong", "  bad, Stable")),
        *((SHARE_TOOL, text) for text in ("PreparingRebalance", "NotReady")),
        (STREAMS_TOOL, "PreparingRebalance"),
    ],
)
def test_states_refused(tool: Tool, text: str) -> None:
    """The value is named as it was given, and the states of the tool's groups are."""
    with pytest.raises(Misuse) as refused:
        states_of(text, tool.states)
    valid = ", ".join(tool.states)
    assert refused.value.message == f"Invalid state list '{text}'. Valid states are: {valid}"


@pytest.mark.parametrize(
    ("text", "types"),
    [
        (None, ()),
        ("", ()),
        ("cLaSsIc", ("Classic",)),
        ("Consumer , classic,", ("Consumer", "Classic")),
    ],
)
def test_types(text: str | None, types: tuple[str, ...]) -> None:
    """Any case, trimmed, empty items at the end left out."""
    assert types_of(text) == types


@pytest.mark.parametrize("text", ["share", "streams", "bogus", " "])
def test_types_refused(text: str) -> None:
    """Only the types of consumer groups."""
    with pytest.raises(Misuse, match="Invalid types list"):
        types_of(text)


NAMES = ["has space", "a,b", 'quo"te', "back\\slash", "x" * 25, "x" * 24, "[b]", "-", "グループ"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read(name: str, tmp_path: Path) -> None:
    """Odd names of groups and topics survive export and import, in both shapes."""
    plan = {name: {("t", 0): 5, (name.strip("-") or "u", 3): 7}}
    long, short = tmp_path / "long.csv", tmp_path / "short.csv"
    long.write_text(plan_text(plan, with_group=True), encoding="utf-8")
    short.write_text(plan_text(plan, with_group=False), encoding="utf-8")
    assert read_plan(str(long), [name, "other"], one_group=False) == plan
    assert read_plan(str(long), [name], one_group=True) == plan
    assert read_plan(str(short), [name], one_group=True) == plan


@pytest.mark.parametrize(
    "text", ["", "t,0\n", "g,t,0,1,2\n", "topic,partition,offset\n", "t,0,1\n\nt,1,1\n", "t,x,1\n"]
)
def test_file_refused(text: str, tmp_path: Path) -> None:
    """Too few or too many cells, no numbers, nothing: told with the line."""
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(LateError, match=r"f\.csv"):
        read_plan(str(tmp_path / "f.csv"), ["g"], one_group=True)


def _row(**changes: object) -> dict[str, object]:
    row: dict[str, object] = {"topic": "t", "partition": 1, "offset": 1, **changes}
    return {name: value for name, value in row.items() if value is not ...}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The input string is not a valid JSON"),
        ("{", "The input string is not a valid JSON"),
        ("[]", "Expected JSON object, received []"),
        ('{"version": "1", "partitions": []}', 'Expected `Integer` value, received "1"'),
        ('{"version": 2, "partitions": []}', "Not supported version field value 2"),
        ('{"version": 1}', "Missing partitions field"),
        ('{"partitions": 5}', "Expected JSON array, received 5"),
        (json.dumps({"partitions": [5]}), "Expected JSON object, received 5"),
        (json.dumps({"partitions": [_row(topic=...)]}), "No such field exists: `topic`"),
        (json.dumps({"partitions": [_row(partition=...)]}), "No such field exists: `partition`"),
        (json.dumps({"partitions": [_row(offset=...)]}), "No such field exists: `offset`"),
        (json.dumps({"partitions": [_row(topic=1)]}), "Expected `String` value, received 1"),
        (
            json.dumps({"partitions": [_row(partition="a")]}),
            'Expected `Integer` value, received "a"',
        ),
        (json.dumps({"partitions": [_row(offset=1.5)]}), "Expected `Long` value, received 1.5"),
        (json.dumps({"partitions": [_row(offset=True)]}), "Expected `Long` value, received true"),
        (
            json.dumps({"partitions": [_row(), _row(), _row(topic="u"), _row(topic="u")]}),
            "Offset json file contains duplicate topic partitions: t-1,u-1",
        ),
    ],
)
def test_records_refused(text: str, message: str) -> None:
    """Each of the official messages."""
    with pytest.raises(BadFile) as refused:
        offsets_of(text)
    assert refused.value.message == message


def test_records() -> None:
    """Unknown keys do not count; the version may be left out."""
    assert offsets_of('{"partitions": [{"topic": "t", "partition": 0, "offset": -1, "x": 0}]}') == {
        ("t", 0): -1
    }


def test_a_time_before_1970() -> None:
    """Brokers take it for a code, and refuse it."""
    with ClusterAdmin(ClientSettings("127.0.0.1:1")) as admin, pytest.raises(LateError) as refused:
        offsets_since(-1, admin, {}, {})
    told = "UnsupportedVersionException: The version of API is not supported."
    assert str(refused.value).endswith(told)


def test_an_unknown_security_protocol(tmp_path: Path) -> None:
    """Told in the words of Java's client."""
    (tmp_path / "nonsense.properties").write_text("security.protocol=NONSENSE\n")
    words = ("--command-config", str(tmp_path / "nonsense.properties"))
    told = run_ours(["--bootstrap-server", "127.0.0.1:1", "--list", *words])
    assert (told.status, told.stdout) == (1, "")
    assert "Invalid value NONSENSE for configuration security.protocol: " in told.stderr
