"""`kgroups peek` on the embedded cluster."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import ClusterSnapshot, PartitionLog, Topic
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.runner import run
from tests.support.cli.terminal_run import foreign_controls, run_on_terminal
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets, expire_records, fetch_offsets

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
HOSTILE = "\x1b]0;owned\x07\x1b[2J"


def value_of(number: int) -> bytes:
    """Of the record at this offset."""
    return json.dumps({"n": number, "pad": "x" * 50}).encode()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Ten records in `t-0` by every codec, binary and hostile ones in `odd`, a gap in `gap`."""
    file: Path = tmp_path_factory.mktemp("peek") / "gap.json"
    gap = Topic("gap", {0: PartitionLog(0, 100, leader=1)})
    write_snapshot(ClusterSnapshot(1, (), {"gap": gap}), file)
    with Sandbox(brokers=1, topics={"t": 2, "odd": 4}, snapshot=file) as sandbox:
        address = sandbox.bootstrap_servers
        for place, codec in enumerate(CODECS):
            producer = Producer(
                {"bootstrap.servers": address, "compression.type": codec, "linger.ms": 50}
            )
            for number in (2 * place, 2 * place + 1):
                producer.produce(
                    "t",
                    value_of(number),
                    key=f"k{number}".encode(),
                    partition=0,
                    headers=[("codec", codec.encode()), ("raw", b"\xff\x00")],
                    timestamp=1_700_000_000_000 + number,
                )
            assert producer.flush(60) == 0
        for partition, (key, value) in enumerate(
            [(b"\xfe", b"\x00\xff" * 100), (b"k", None), (HOSTILE.encode(), HOSTILE.encode())]
        ):
            producer.produce("odd", value, key=key, partition=partition)
        assert producer.flush(60) == 0
        expire_records(address, {("t", 0): 2})
        odd = {("odd", number): 0 for number in range(3)} | {("odd", 3): 7}
        commit_offsets(
            address,
            {
                "app": {("t", 0): 5, ("t", 1): 0, ("gap", 0): 10},
                "late": {("t", 0): 0},
                "odd": odd,
            },
        )
        yield address


def items(address: str, *words: str) -> list[dict[str, object]]:
    """What the command shows."""
    outcome = run("peek", *words, "-b", address, "-o", "json")
    assert outcome.exit_code == 0, outcome.stderr
    found: list[dict[str, object]] = outcome.document["items"]
    return found


def test_what_is_next(address: str) -> None:
    """A record, a gap up to the log's end, and an end."""
    before = fetch_offsets(address, "app")
    outcome = run("peek", "app", "-b", address, "-o", "json")
    gap, end, record, read = outcome.document["items"]
    assert [(each["kind"], each["reason"]) for each in (gap, end, record, read)] == [
        ("gap", "compacted"),
        ("end", "log_end"),
        ("record", None),
        ("end", "log_end"),
    ]
    assert (gap["offset"], gap["next_offset"], end["offset"]) == (10, 100, 100)
    value = value_of(5)
    assert record.pop("age_seconds") > 1_000
    assert record == {
        "topic": "t",
        "partition": 0,
        "committed_offset": 5,
        "offset": 5,
        "next_offset": 6,
        "kind": "record",
        "reason": None,
        "distance": 0,
        "written_at": "2023-11-14T22:13:20.005Z",
        "size": len("k5" + "codec" + "snappy" + "raw") + 2 + len(value),
        "key": "k5",
        "headers": [{"name": "codec", "value": "snappy"}, {"name": "raw", "value": "0xff00"}],
        "value": None,
        "value_as": "hidden",
        "value_size": len(value),
        "owner": None,
    }
    assert value.decode() not in outcome.stdout
    assert [note["code"] for note in outcome.document["notes"]] == ["VALUES_HIDDEN"]
    assert fetch_offsets(address, "app") == before


def test_records_on_each_side(address: str) -> None:
    """As far as the log goes; every codec is read."""
    words = ("app", "--topic", "t:0", "--show-values", "--value-as", "json")
    found = items(address, *words, "--around", "2")
    assert [each["offset"] for each in found] == [3, 4, 5, 6, 7]
    assert [each["distance"] for each in found] == [-2, -1, 0, 1, 2]
    whole = items(address, *words, "--around", "50")
    assert [each["offset"] for each in whole] == [*range(2, 10), 10]
    assert [each["value"] for each in whole[:-1]] == [json.loads(value_of(n)) for n in range(2, 10)]
    assert whole[-1]["kind"] == "end"


def test_records_that_are_gone(address: str) -> None:
    """What lies below the log start is a gap."""
    gap, record = items(address, "late")
    assert (gap["reason"], gap["offset"], gap["next_offset"]) == ("deleted", 0, 2)
    assert (record["offset"], record["distance"]) == (2, 0)


def test_stuck_below_the_log_start(address: str) -> None:
    """Such a commit stands still before the first record that is left."""
    gap, record = items(address, "late", "--stuck", "--over", "100ms")
    assert (gap["reason"], record["offset"]) == ("deleted", 2)


def test_values_that_are_no_text(address: str) -> None:
    """Hex with `0x`, cut; a tombstone has none; a commit behind the log has no record."""
    binary, tombstone, _, beyond = items(address, "odd", "--show-values", "--value-bytes", "3")
    assert (binary["key"], binary["value"], binary["value_as"]) == ("0xfe", "0x00ff00…", "hex")
    assert (tombstone["value"], tombstone["value_as"], tombstone["value_size"]) == (None,) * 3
    assert (beyond["kind"], beyond["reason"]) == ("end", "beyond_end")


@pytest.mark.share(32)
@pytest.mark.parametrize("form", ["table", "json", "csv", "yaml"])
def test_no_terminal_is_driven(address: str, form: str) -> None:
    """Control characters of keys and values are spelled out there."""
    words = ("odd", "--topic", "odd:2", "--show-values", "-b", address, "-o", form)
    code, written = run_on_terminal("peek", *words)
    assert code == 0
    assert "owned" in written
    assert foreign_controls(written) == set()


def test_one_value_as_it_is(address: str, tmp_path: Path) -> None:
    """Byte for byte; of several records none is chosen, and a tombstone has no value."""
    file = tmp_path / "value"
    words = ("peek", "odd", "-b", address, "--raw", str(file))
    assert run(*words).exit_code == 2
    assert run(*words, "--topic", "odd:1").exit_code == 5
    assert not file.exists()
    outcome = run(*words, "--topic", "odd:0")
    assert outcome.exit_code == 0, outcome.stderr
    assert file.read_bytes() == b"\x00\xff" * 100
    assert "200 bytes written" in outcome.stderr


def test_a_context_that_forbids_values(address: str, tmp_path: Path) -> None:
    """Neither on the screen nor in a file; all else is shown."""
    config = tmp_path / "config.yaml"
    config.write_text(
        f"current: eu\ncontexts: {{eu: {{bootstrap_servers: '{address}', values: never}}}}\n"
    )
    env = {"KGROUPS_CONFIG": str(config)}
    assert run("peek", "app", env=env).exit_code == 0
    for words in (("--show-values",), ("--topic", "t:0", "--raw", str(tmp_path / "value"))):
        outcome = run("peek", "app", *words, "-o", "json", env=env)
        assert outcome.exit_code == 4
        assert outcome.document["errors"][0]["code"] == "VALUES_FORBIDDEN"
    assert not (tmp_path / "value").exists()


def test_decoders(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of an entry point or of a function; one that fails is told with its record."""
    (tmp_path / "peek_decoders.py").write_text(
        "def size(value, topic):\n    return {topic: len(value)}\n"
        "def broken(value, topic):\n    raise ValueError('magic byte')\n"
        "def odd(value, topic):\n    return object()\n"
    )
    metadata = tmp_path / "peek_decoders-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: peek-decoders\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[kgroups.decoders]\nsize = peek_decoders:size\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ("app", "--topic", "t:0", "--show-values", "--value-as")
    for name in ("size", "peek_decoders:size"):
        (item,) = items(address, *words, name)
        assert (item["value"], item["value_as"]) == ({"t": len(value_of(5))}, name)
    for name in ("peek_decoders:broken", "peek_decoders:odd"):
        outcome = run("peek", *words, name, "-b", address, "-o", "json")
        assert outcome.exit_code == 1
        (error,) = outcome.document["errors"]
        assert (error["code"], error["target"]) == ("DECODER_FAILED", "t-0@5")
    assert run("peek", *words, "peek_decoders:none", "-b", address).exit_code == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--limit", "3"), [(2, "limit"), (5, None), (6, None), (7, None), (8, "limit")]),
        (("--limit", "7"), [(4, "limit"), *((n, None) for n in range(5, 10)), (10, "log_end")]),
        (("--max-bytes", "1"), [(2, "limit"), (5, None), (6, "limit")]),
    ],
)
def test_bounds(address: str, words: tuple[str, ...], told: list[tuple[int, str | None]]) -> None:
    """What is next comes first; reading stops, and says so on either side."""
    outcome = run(
        "peek", "app", "--topic", "t:0", "--around", "5", *words, "-b", address, "-o", "json"
    )
    assert [(each["offset"], each["reason"]) for each in outcome.document["items"]] == told
    assert "LIMIT_REACHED" in {note["code"] for note in outcome.document["notes"]}


def test_what_the_group_never_committed(address: str) -> None:
    """Each that was named is told; what else was asked for is shown."""
    outcome = run("peek", "app", "--topic", "t:0,9", "--topic", "none", "-b", address, "-o", "json")
    assert outcome.exit_code == 5
    assert [each["offset"] for each in outcome.document["items"]] == [5]
    assert {each["target"] for each in outcome.document["errors"]} == {"t-9", "none"}
    missing = run("peek", "appp", "-b", address)
    assert (missing.exit_code, "did you mean `app`" in missing.stderr) == (5, True)


def test_stuck(address: str) -> None:
    """A commit that stands still before a record, with its owner; a gap holds nobody."""
    with LiveGroup(address, "app", [MemberSpec("idle", ("t", "gap"))]) as group:
        group.wait_stable(3)
        (item,) = items(address, "app", "--stuck", "--over", "200ms")
    assert (item["topic"], item["partition"], item["offset"]) == ("t", 0, 5)
    assert str(item["owner"]).startswith("idle")
    outcome = run(
        "peek", "app", "--stuck", "--over", "100ms", "--topic", "gap", "-b", address, "-o", "json"
    )
    assert outcome.document["items"] == []
    assert [note["code"] for note in outcome.document["notes"]] == ["NOTHING_STUCK"]
