"""Snapshot files: what is written is read back, and a broken file is told where it is broken."""

import dataclasses
import json
from pathlib import Path

import cramjam
import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from kgroups.core.errors import UsageError
from kgroups.core.group_item import describe_item
from kgroups.core.input_files.document import parse_document
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    PartitionLog,
    Topic,
)
from kgroups.core.snapshot_file import (
    parse_snapshot,
    read_snapshot,
    snapshot_document,
    write_snapshot,
)
from tests.support.cli.clusters import fleet
from tests.support.random_snapshots import SNAPSHOTS, sample_snapshot


@pytest.mark.share(2)
@pytest.mark.parametrize("suffix", ["json", "yaml", "jsonl", "jsonl.zst"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(snapshot=SNAPSHOTS)
def test_round_trip(tmp_path: Path, suffix: str, snapshot: ClusterSnapshot) -> None:
    """Whatever a cluster shows survives the file, orders of maps included."""
    path = tmp_path / f"cluster.{suffix}"
    write_snapshot(snapshot, path)
    again = read_snapshot(path)
    assert again == snapshot
    assert list(again.topics) == list(snapshot.topics)
    for before, after in zip(snapshot.groups, again.groups, strict=True):
        for member, copy in zip(before.members or (), after.members or (), strict=True):
            assert list((member.assignment or {}).items()) == list((copy.assignment or {}).items())
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_lag_that_a_coordinator_told(tmp_path: Path) -> None:
    """Of a share group: less than the log has after its start offset, as the file says."""
    offsets = {"orders": {0: CommittedOffset(3, lag=2)}}
    group = Group("g", "share", "Stable", offsets=offsets)
    topics = {"orders": Topic("orders", {0: PartitionLog(0, 10)})}
    snapshot = ClusterSnapshot(0, (group,), topics)
    path = tmp_path / "cluster.json"
    write_snapshot(snapshot, path)
    assert read_snapshot(path) == snapshot


def test_read_what_another_tool_wrote(tmp_path: Path) -> None:
    """A file without derived figures and without optional keys is enough."""
    path = tmp_path / "small.json"
    path.write_text(
        '{"schema": "kgroups.snapshot/1", "generated_at": "2026-11-21T01:02:03.456Z",'
        ' "items": [{"group": "g", "type": "classic", "state": null}], "topics": []}'
    )
    snapshot = read_snapshot(path)
    assert snapshot.captured_at_ms == 1_795_222_923_456
    assert snapshot.groups[0].members is None
    assert snapshot.groups[0].offsets is None


def with_topic_id(topic_id: str) -> str:
    """The sample's document with this id for its topic."""
    document = snapshot_document(sample_snapshot())
    document["topics"][0]["topic_id"] = topic_id
    return json.dumps(document)


def test_topic_ids_have_one_form() -> None:
    """Kafka's base64; nothing else is read."""
    read = parse_snapshot(parse_document(with_topic_id("AAAAAAAAAAEAAAAAAAAAAQ"), "s", "json"))
    assert read.topics["orders"].topic_id == "AAAAAAAAAAEAAAAAAAAAAQ"
    uuid = "00000000-0000-0001-0000-000000000001"
    for text in (uuid, "orders", "AAAAAAAAAAEAAAAAAAAA!Q", "AAAAAAAAAAEAAAAAAAAAAR", "", "é"):
        with pytest.raises(UsageError, match=r"line 1, `topics\[0\]`: "):
            parse_snapshot(parse_document(with_topic_id(text), "s.json", "json"))


def test_the_document_shows_lag(tmp_path: Path) -> None:
    """Items of a snapshot hold the figures that describe shows, and unknown is null."""
    item = snapshot_document(sample_snapshot())["items"][0]
    assert [row["lag"] for row in item["offsets"]] == [5, 11, None, None]
    unknown = {"unknown_partitions": 2, "unowned_partitions": 0, "beyond_end_partitions": 0}
    assert item.items() >= {"lag": 16, "lag_max": 11, "lost": 0, **unknown}.items()
    assert [member["lag"] for member in item["members"]] == [None, 16]
    assert item["coordinator"] == {"id": 1, "host": "kafka-1", "port": 9092}


@pytest.mark.parametrize(
    ("views", "present"),
    [
        (("state",), set()),
        (("offsets",), {"offsets", "lag"}),
        (("members",), {"members"}),
        (("members", "offsets"), {"members", "offsets", "lag"}),
    ],
)
def test_views_decide_the_fields(views: tuple[str, ...], present: set[str]) -> None:
    """What a view was not asked for is absent, not empty."""
    snapshot = sample_snapshot()
    item = describe_item(snapshot, snapshot.groups[0], [], views)  # type: ignore[arg-type]
    lists = {"members", "offsets", "lag"}
    assert item.keys() & lists == present
    assert all("user_data" not in member for member in item.get("members", ()))


@dataclasses.dataclass(frozen=True)
class Broken:
    """A fault put into a good file: text replaced, and what the message must name."""

    id: str
    old: str
    new: str
    says: tuple[str, ...]


BROKEN = [
    Broken("misspelt key", '"offsets_partition"', '"offset_partition"',
           ("items[0]", "unknown field `offset_partition`")),
    Broken("key missing", '"member_id": "app-b",', "", ("items[0].members[0]", "`member_id`")),
    Broken("wrong kind", '"member_id": "app-b"', '"member_id": 7',
           ("items[0].members[0].member_id", "expected `str`, got `int`")),
    Broken("unknown type", '"type": "classic"', '"type": "clasic"', ("items[0].type", "'clasic'")),
    Broken("negative partition", '"partition": 1,', '"partition": -1,',
           (".partition", "expected `int` >= 0")),
    Broken("true is no number", '"id": 1', '"id": true', ("expected `int`, got `bool`",)),
    Broken("beyond 64 bits", '"leader_epoch": null', f'"leader_epoch": {2**63}',
           (".leader_epoch", "expected `int` <= 9223372036854775807")),
    Broken("two members one id", '"app-b"', '"app-a"', ("items[0]", "`app-a`", "twice")),
    Broken("two groups one name", '"group": "idle"', '"group": "billing"', ("`billing`", "twice")),
    Broken("user data not base64", '"AP8="', '"?"', ("user_data", "base64")),
    Broken("another document", "kgroups.snapshot/1", "kgroups.list/1",
           ("`schema`", "expected `kgroups.snapshot/1`, found `kgroups.list/1`", "snapshot save")),
    Broken("members no list", '"members": [', '"members": {"a": [',
           ("not JSON",)),
]  # fmt: skip


def lined(document: dict[str, object]) -> str:
    """The document with one key a line, so that lines tell places apart."""
    return json.dumps(document, indent=2)


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.id)
def test_broken_json(tmp_path: Path, case: Broken) -> None:
    """The message names the file, the line, the place and what was expected."""
    text = lined(snapshot_document(sample_snapshot()))
    assert case.old in text
    broken = text.replace(case.old, case.new, 1)
    path = tmp_path / "broken.json"
    path.write_text(broken)
    with pytest.raises(UsageError) as caught:
        read_snapshot(path)
    message = f"{caught.value.message} {caught.value.hint}"
    assert f"`{path}`, line " in message
    for part in case.says:
        assert part in message


@pytest.mark.parametrize("syntax", ["json", "yaml"])
def test_the_line_is_the_line(syntax: str) -> None:
    """The line of a fault deep in the file is found in both syntaxes."""
    document = snapshot_document(sample_snapshot())
    document["topics"][0]["partitions"][2]["leader"] = "one"
    text = lined(document) if syntax == "json" else yaml.safe_dump(document, sort_keys=False)
    expected = next(
        n for n, line in enumerate(text.splitlines(), 1) if "one" in line.split(":")[-1]
    )
    with pytest.raises(UsageError) as caught:
        parse_snapshot(parse_document(text, "f", syntax))  # type: ignore[arg-type]
    assert f"line {expected}, `topics[0].partitions[2].leader`" in caught.value.message


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("cut.json", '{\n"schema": ', "line 2: not JSON"),
        ("cut.yaml", "a: [1,\nb: }", "line 2: not YAML"),
        ("twice.json", '{"a": 1,\n "a": 2}', "line 2: the key `a` appears twice"),
        ("twice.yaml", "a: 1\nb: 2\na: 2\n", "line 3: the key `a` appears twice"),
        ("cycle.yaml", "c: 1\na: &x\n  b: *x\n", "line 2: an alias refers to a value that"),
        ("empty.yaml", "# nothing\n", "is empty"),
        ("list.json", "[]", "line 1: expected `object`, got `array`"),
        ("nan.json", '{"schema": NaN}', "`NaN` is not a JSON value"),
        ("tag.yaml", "a: 1\nb: !!python/object:os.system {}\n", "line 2: the tag"),
        ("deep.json", "[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_not_well_formed(tmp_path: Path, name: str, text: str, says: str) -> None:
    """A file that cannot be parsed is a usage error with its name and, where known, the line."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_snapshot(path)
    assert name in caught.value.message
    assert says in caught.value.message


@pytest.mark.parametrize("suffix", ["json", "yaml", "jsonl"])
def test_a_long_key_makes_no_long_message(tmp_path: Path, suffix: str) -> None:
    """What a file says is shortened."""
    path = tmp_path / f"long.{suffix}"
    path.write_text(json.dumps({"k" * 100_000: 1}) if suffix != "yaml" else "? " + "k" * 100_000)
    with pytest.raises(UsageError) as caught:
        read_snapshot(path)
    assert len(caught.value.message) < 500


def test_unreadable(tmp_path: Path) -> None:
    """A missing file, a directory and bytes that are not UTF-8 are usage errors too."""
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "absent.json", tmp_path, binary):
        with pytest.raises(UsageError, match=path.name):
            read_snapshot(path)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """A snapshot that cannot be written is a usage error and leaves nothing behind."""
    path = tmp_path / "missing" / "cluster.json"
    with pytest.raises(UsageError, match="cannot be written"):
        write_snapshot(sample_snapshot(), path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("suffix", "name"), [("json", "MAX_BYTES"), ("yaml", "MAX_YAML_VALUES")])
def test_what_could_not_be_read_back_is_not_written(
    tmp_path: Path, suffix: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a snapshot is refused, with the name of the file that can hold it."""
    limit: object = {"json": 2_000} if suffix == "json" else 100
    monkeypatch.setattr(f"kgroups.core.snapshot_file.{name}", limit)
    with pytest.raises(UsageError) as refused:
        write_snapshot(fleet(4, 24), tmp_path / f"big.{suffix}")
    assert refused.value.message == (
        f"`{tmp_path}/big.{suffix}` would be too long to be read back as {suffix.upper()}"
    )
    assert refused.value.hint == f"save it as `{tmp_path}/big.jsonl.zst`"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("suffix", "commits"), [("json", 402_654), ("yaml", 133_344)])
def test_a_large_cluster_is_refused_before_its_document_is_made(
    tmp_path: Path, suffix: str, commits: int
) -> None:
    """The number of commits tells that no file of the format can hold it."""
    offsets = {"t": dict.fromkeys(range(commits), CommittedOffset(1))}
    snapshot = ClusterSnapshot(1, (Group("g", "classic", None, offsets=offsets),), {})
    with pytest.raises(UsageError, match="too long to be read back"):
        write_snapshot(snapshot, tmp_path / f"big.{suffix}")


def packed(*lines: object) -> bytes:
    """These lines as a file has them; bytes stand as they are."""
    texts = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines]
    return bytes(cramjam.zstd.compress(b"".join(text + b"\n" for text in texts)))


HEAD = {
    "schema": "kgroups.snapshot.lines/1",
    "generated_at": "2026-01-01T00:00:00Z",
    "topics": 1,
    "groups": 1,
}
TOPIC = {
    "topic": "t",
    "partitions": [{"partition": 0, "log_end_offset": 5}, {"partition": 1, "racks": ["a", None]}],
}
GROUP = {"group": "g", "type": "classic", "state": "Empty"}


def with_commits(*commits: object) -> dict[str, object]:
    """The group with these commits."""
    return {**GROUP, "offsets": commits}


def commit(partition: object, offset: object) -> dict[str, object]:
    """A commit for a partition of the topic."""
    return {"topic": "t", "partition": partition, "committed_offset": offset}


LINES: dict[str, tuple[bytes, str]] = {
    "cut off between lines": (packed(HEAD, TOPIC), "is cut off"),
    "cut off within the packing": (packed(HEAD, TOPIC, GROUP)[:-3], "is not a whole zstd file"),
    "not packed": (json.dumps(HEAD).encode(), "is not a whole zstd file"),
    "empty": (packed(), "is cut off"),
    "without a head": (packed(TOPIC, GROUP), "line 1: Object contains unknown field `topic`"),
    "a document": (
        packed(snapshot_document(sample_snapshot())),
        "line 1: Invalid enum value 'kgroups.snapshot/1' - at `$.schema`",
    ),
    "no JSON": (packed(HEAD, b"{x"), "line 2: JSON is malformed"),
    "no UTF-8": (packed(HEAD, b'{"topic":"\xff"}'), "line 2: 'utf-8' codec can't decode"),
    "nested deeply": (packed(HEAD, b'{"topic":"t","x":' + b"[" * 9_999), "line 2: "),
    "a group too few": (packed({**HEAD, "groups": 2}, TOPIC, GROUP), "is cut off"),
    "a group too many": (packed(HEAD, TOPIC, GROUP, GROUP), "line 4: more lines than"),
    "a group twice": (packed({**HEAD, "groups": 2}, TOPIC, GROUP, GROUP), "the group `g` appears"),
    "a key too many": (
        packed(HEAD, TOPIC, {**GROUP, "lags": 1}),
        "line 3: Object contains unknown",
    ),
    "a negative partition": (
        packed(HEAD, TOPIC, with_commits(commit(0, 7), commit(-1, 7))),
        "line 3: Expected `int` >= 0 - at `$.offsets[1].partition`",
    ),
    "a partition twice": (
        packed(HEAD, TOPIC, with_commits(commit(3, 7), commit(3, 7))),
        "line 3: the partition `t-3` appears twice",
    ),
    "a text for an offset": (
        packed(HEAD, TOPIC, with_commits(commit(0, "8"))),
        "line 3: Expected `int | null`, got `str` - at `$.offsets[0].committed_offset`",
    ),
    "true for an offset": (
        packed(HEAD, TOPIC, with_commits(commit(0, True))),
        "line 3: Expected `int | null`, got `bool`",
    ),
    "beyond 64 bits": (
        packed(HEAD, TOPIC, with_commits(commit(0, 2**63))),
        "line 3: Expected `int` <= 9223372036854775807",
    ),
    "a rack of numbers": (
        packed(HEAD, {"topic": "t", "partitions": [{"partition": 0, "racks": [1]}]}),
        "line 2: Expected `str | null`, got `int` - at `$.partitions[0].racks[0]`",
    ),
}


@pytest.mark.parametrize("case", LINES)
def test_broken_lines(tmp_path: Path, case: str) -> None:
    """The complaint names the file, the line and the place in it."""
    data, says = LINES[case]
    path = tmp_path / "cluster.jsonl.zst"
    path.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        read_snapshot(path)
    assert f"`{path}`" in caught.value.message
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("name", "limit", "says"),
    [
        ("MAX_LINES_BYTES", 256 << 10, "its text is longer than 256 KiB"),
        ("MAX_LINE_BYTES", 128 << 10, "a line is longer than 128 KiB"),
        ("MAX_LINES_COST", 1 << 20, "it has more values than kgroups reads"),
    ],
)
def test_lines_that_could_not_be_read_back_are_not_written(
    tmp_path: Path, name: str, limit: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One bound for writing and for reading; what was there stays."""
    monkeypatch.setattr(f"kgroups.core.snapshot_file.{name}", limit)
    offsets = {"t": {p: CommittedOffset(p + 10**12) for p in range(20_000)}}
    snapshot = ClusterSnapshot(1, (Group("g", "classic", None, offsets=offsets),), {})
    path = tmp_path / "cluster.jsonl.zst"
    path.write_bytes(b"as it was")
    with pytest.raises(UsageError, match=f"too large to be read back: {says}"):
        write_snapshot(snapshot, path)
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"as it was"]


def test_lines_by_another_packer(tmp_path: Path) -> None:
    """Several frames, as appending packers write them, are read too."""
    path = tmp_path / "cluster.jsonl.zst"
    path.write_bytes(packed(HEAD, TOPIC) + packed(GROUP))
    snapshot = read_snapshot(path)
    assert snapshot.topics["t"].partitions[0].log_end_offset == 5
    assert snapshot.topics["t"].partitions[1].log_end_offset is None
    assert [group.group for group in snapshot.groups] == ["g"]


def test_plain_lines(tmp_path: Path) -> None:
    """The text that is packed as `.jsonl.zst`; a file that is cut off is noticed."""
    snapshot = fleet(3, 4)
    plain, zipped = tmp_path / "cluster.jsonl", tmp_path / "cluster.jsonl.zst"
    write_snapshot(snapshot, plain)
    write_snapshot(snapshot, zipped)
    text = plain.read_bytes()
    assert text == bytes(cramjam.zstd.decompress(zipped.read_bytes()))
    plain.write_bytes(b"".join(text.splitlines(keepends=True)[:-1]))
    with pytest.raises(UsageError, match="is cut off"):
        read_snapshot(plain)


@pytest.mark.slow("half a million commits; the same rules on small ones are above")
def test_a_large_cluster_comes_back(tmp_path: Path) -> None:
    """480,000 commits are read back as they were; the formats that could not are refused."""
    snapshot = fleet(20_000, 24)
    paths = [tmp_path / "large.jsonl", tmp_path / "large.jsonl.zst"]
    for path in paths:
        write_snapshot(snapshot, path)
        assert read_snapshot(path) == snapshot
    for suffix in ("json", "yaml"):
        with pytest.raises(UsageError) as refused:
            write_snapshot(snapshot, tmp_path / f"large.{suffix}")
        assert refused.value.hint == f"save it as `{paths[1]}`"
    assert sorted(tmp_path.iterdir()) == paths


@pytest.mark.slow("a hundred thousand commits in formats for few: half a minute")
@pytest.mark.parametrize(("suffix", "groups"), [("json", 8_000), ("yaml", 4_000)])
def test_large_documents_come_back(tmp_path: Path, suffix: str, groups: int) -> None:
    """Nearly as large as each of these formats may be."""
    snapshot = fleet(groups, 24)
    path = tmp_path / f"large.{suffix}"
    write_snapshot(snapshot, path)
    assert read_snapshot(path) == snapshot
