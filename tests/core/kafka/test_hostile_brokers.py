"""A broker that is broken or means harm: exit 3, one sentence, little memory, whatever it sends."""

import asyncio
import contextlib
import json
import os
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import DEFAULT_ANSWER_BYTES, ClientSettings
from kgroups.core.protocol.frames import read_response
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.protocol.table import FORMATS, fields_at, response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.varints import uvarint
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group, PartitionLog, Topic
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import runner
from tests.support.cli.measured import Measured, measure
from tests.support.hostile.mutations import mutated, unnamed_groups
from tests.support.hostile.scripted_broker import ScriptedBroker
from tests.support.hostile.tampering import Conduct, TamperingProxy, Wire, rewritten
from tests.support.protocol.spoken_apis import APIS, api_of
from tests.support.sandbox.frame_client import WireClient, join_body

MAX_PEAK_BYTES = 400_000_000
ROUNDS = int(os.environ.get("KGROUPS_FUZZ_ROUNDS", "40"))
GROUP = "billing"
LIST = ("list",)
DESCRIBE = ("describe", GROUP)
COMMANDS: dict[str, tuple[str, ...]] = {
    "api_versions": LIST,
    "metadata": LIST,
    "list_groups": LIST,
    "find_coordinator": ("coordinator", GROUP),
    "describe_groups": DESCRIBE,
    "offset_fetch": DESCRIBE,
    "list_offsets": DESCRIBE,
    "delete_groups": ("delete", GROUP, "--yes"),
    "offset_delete": ("delete-offsets", GROUP, "--topic", "t", "--yes"),
    "offset_commit": ("reset-offsets", GROUP, "--topic", "t", "--to", "earliest", "--yes"),
    "delete_records": ("delete-records", "t", "--before", "latest", "--yes"),
}
"""A command that asks for the API."""


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[str]:
    """A well-behaved broker with one group without members."""
    commits = {"t": {0: CommittedOffset(5), 1: CommittedOffset(5)}}
    snapshot = ClusterSnapshot(
        1_795_223_045_678,
        (Group(GROUP, "classic", "Empty", "consumer", offsets=commits, members=()),),
        {"t": Topic("t", {n: PartitionLog(log_start_offset=0, log_end_offset=10) for n in (0, 1)})},
        (),
        "hostile",
        "",
    )
    write_snapshot(snapshot, tmp_path / "cluster.json")
    with Sandbox(brokers=1, snapshot=tmp_path / "cluster.json") as cluster:
        yield cluster.bootstrap_servers


def run(upstream: str, tmp_path: Path, api: str, conduct: Conduct) -> Measured:
    """The command that asks for the API, before a broker that misbehaves there.

    A program of its own where it is sent so much that its memory tells something.
    """
    with TamperingProxy(upstream, {api: conduct}) as broker:
        line = ("-b", broker.address, "--timeout", "6s", *COMMANDS[api], "-o", "json")
        if conduct in (huge_count, flood, flood_as_allowed, many_groups):
            result = measure(tmp_path, *line)
        else:
            ended = runner.run(*line)
            result = Measured(ended.exit_code, ended.stdout, ended.stderr, 0, 0.0)
        assert api in broker.seen, f"{COMMANDS[api]} does not ask {api}"
    return result


def assert_refused(result: Measured) -> None:
    """Exit 3, one sentence where nothing else could be said, and little memory.

    A write whose answer alone was spoiled is seen to be done, and that is said.
    """
    print(result)
    assert result.peak_bytes < MAX_PEAK_BYTES
    if result.code == 0:
        assert {item["result"] for item in json.loads(result.stdout)["items"]} == {"done"}
        return
    assert result.code == 3
    if result.stdout:
        document = json.loads(result.stdout)
        assert document["errors"] or any(item.get("error") for item in document["items"])
    else:
        assert len(result.errors) == 1
    assert "Traceback" not in result.stderr
    assert max(map(len, result.stderr.splitlines())) < 500


def before_first_array(wire: Wire) -> int:
    """Where the length of the answer's first array stands."""
    place = wire.start
    for field in fields_at(response_table(api_of(wire.api)).fields, wire.version):
        if field.is_array:
            break
        place += struct.calcsize(">" + FORMATS[field.kind])
    return place


async def huge_count(wire: Wire) -> None:
    """An array of 2^32 - 1, where the first one should be."""
    place = before_first_array(wire)
    flexible = wire.start == 5 or (wire.api == "api_versions" and wire.version >= 3)
    count = b"\xff\xff\xff\xff\x0f" if flexible else b"\x7f\xff\xff\xff"
    wire.send(wire.frame[:place] + count + wire.frame[place:])


@pytest.mark.share(3)
@pytest.mark.parametrize("api", COMMANDS)
def test_a_count_of_four_billion(api: str, upstream: str, tmp_path: Path) -> None:
    """It would take 34 GB, which ends a process that asks for them."""
    assert_refused(run(upstream, tmp_path, api, huge_count))


async def flood(wire: Wire) -> None:
    """A gigabyte, announced and sent."""
    wire.writer.write(struct.pack(">i", 1 << 30) + wire.frame[:4])
    for _ in range(1 << 10):
        wire.writer.write(bytes(1 << 20))
        await wire.writer.drain()


async def flood_as_allowed(wire: Wire) -> None:
    """As much as may be sent, of what looks like elements."""
    wire.writer.write(struct.pack(">i", DEFAULT_ANSWER_BYTES) + wire.frame[: wire.start])
    left = DEFAULT_ANSWER_BYTES - wire.start
    while left:
        size = min(left, 1 << 20)
        wire.writer.write(b"\x01" * size)
        await wire.writer.drain()
        left -= size


async def drip(wire: Wire) -> None:
    """Two million bytes, and nothing after the first hundred."""
    wire.writer.write(struct.pack(">i", 2_000_000) + wire.frame[:4] + bytes(96))
    await asyncio.sleep(600)


async def wrong_correlation_id(wire: Wire) -> None:
    """The answer to another question."""
    wire.send(struct.pack(">i", 77) + wire.frame[4:])


async def cut(wire: Wire) -> None:
    """Half of the answer, which says that it is whole."""
    wire.send(wire.frame[: max(4, len(wire.frame) // 2)])


async def nothing_but_a_header(wire: Wire) -> None:
    """An empty answer."""
    wire.send(wire.frame[: wire.start])


async def cut_off(wire: Wire) -> None:
    """Half of the answer, and then the connection ends."""
    wire.writer.write(struct.pack(">i", len(wire.frame)) + wire.frame[: len(wire.frame) // 2])
    await wire.writer.drain()
    raise ConnectionResetError


async def negative_size(wire: Wire) -> None:
    """A frame of less than nothing."""
    wire.writer.write(struct.pack(">i", -len(wire.frame)) + wire.frame)


async def no_room_for_an_id(wire: Wire) -> None:
    """A frame of three bytes."""
    wire.send(wire.frame[:3])


CONDUCTS: list[Conduct] = [
    flood,
    flood_as_allowed,
    drip,
    wrong_correlation_id,
    cut,
    nothing_but_a_header,
    cut_off,
    negative_size,
    no_room_for_an_id,
]


@pytest.mark.share(3)
@pytest.mark.parametrize("api", ["api_versions", "metadata", "offset_fetch"])
@pytest.mark.parametrize("conduct", CONDUCTS, ids=lambda conduct: conduct.__name__)
def test_bytes_that_are_no_answer(
    conduct: Conduct, api: str, upstream: str, tmp_path: Path
) -> None:
    """Whatever is wrong with the bytes, the broker is said to be the cause."""
    assert_refused(run(upstream, tmp_path, api, conduct))


async def many_groups(wire: Wire) -> None:
    """A listing that is right, of more groups than any memory should hold."""

    wire.send(wire.frame[:4] + unnamed_groups(8_000_000)[4:])


def test_more_groups_than_there_can_be(upstream: str, tmp_path: Path) -> None:
    """Forty megabytes on the wire would be gigabytes of objects."""
    result = run(upstream, tmp_path, "list_groups", many_groups)
    assert_refused(result)
    assert "ListGroups v5 is larger than kgroups reads at once" in result.stderr


MANY_BROKERS = 24
GROUPS_EACH = 300_000
# What is allowed to the answers of one question (640 MiB) and to those on their way (128 MiB), and
# as much again for what is made of them.
MAX_PEAK_OF_MANY = 1_650_000_000


@pytest.mark.slow("many brokers in processes of their own")
def test_many_brokers_at_once(tmp_path: Path) -> None:
    """Each answers as much as one broker may: together that would be three gigabytes."""
    names = (b"\x09%08d" % number for number in range(GROUPS_EACH))
    rows = b"".join(name + name + name + name + b"\0" for name in names)
    flood = struct.pack(">ih", 0, 0) + uvarint(GROUPS_EACH + 1) + rows + b"\0"

    def metadata(*_: object) -> dict[str, Any]:
        brokers = [
            {"node_id": n, "host": "127.0.0.1", "port": broker.port} for n in range(MANY_BROKERS)
        ]
        of_cluster = {"throttle_time_ms": 0, "cluster_id": "many", "controller_id": 0}
        return {**of_cluster, "brokers": brokers, "topics": ()}

    with ScriptedBroker({"metadata": metadata, "list_groups": lambda *_: flood}) as broker:
        result = measure(tmp_path, "-b", broker.address, "--timeout", "120s", "list", "-o", "jsonl")
    assert broker.count("list_groups") == MANY_BROKERS
    assert result.peak_bytes < MAX_PEAK_OF_MANY
    assert result.code == 3
    assert "more:" in result.stderr
    assert "ListGroups v5" in result.stderr


ODD_BROKERS: list[tuple[str, dict[str, Any]]] = [
    ("a port that is none", {"port": 70_000}),
    ("a negative port", {"port": -1}),
    ("port 0", {"port": 0}),
    ("no host", {"host": ""}),
    ("a host with a NUL", {"host": "a\0b"}),
    ("a host with half a label", {"host": "a..b"}),
    ("a host of 60 kB", {"host": "h" * 60_000}),
    ("a host that drives the terminal", {"host": "\x1b]0;owned\x07\x1b[2J"}),
]


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "address", [case[1] for case in ODD_BROKERS], ids=[case[0] for case in ODD_BROKERS]
)
def test_addresses_that_are_none(address: dict[str, Any], upstream: str, tmp_path: Path) -> None:
    """A broker elsewhere that cannot be: it cannot be reached, and its name is cut."""

    def change(body: dict[str, Any]) -> None:
        for broker in body["brokers"]:
            broker.update(address)

    async def elsewhere(wire: Wire) -> None:
        wire.send(rewritten(wire, change))

    result = run(upstream, tmp_path, "metadata", elsewhere)
    assert_refused(result)
    assert "\x1b" not in result.stderr


READ = ["api_versions", "metadata", "list_groups", "find_coordinator", "describe_groups"]
READ += ["offset_fetch", "list_offsets", "consumer_group_describe"]


@pytest.mark.share(3)
@pytest.mark.parametrize("api", READ)
def test_answers_of_a_real_cluster_with_bytes_changed(api: str, upstream: str) -> None:
    """What comes of them is an answer, a row of `errors` or a failure that names the cluster."""
    seed = int(os.environ.get("KGROUPS_FUZZ_SEED", "20261122"))
    print(f"KGROUPS_FUZZ_SEED={seed}")
    rng = random.Random(seed)

    async def change(wire: Wire) -> None:
        frame = mutated(wire.frame, rng)
        while api == "metadata" and not _leads_nowhere_else(wire, frame):
            frame = mutated(wire.frame, rng)
        wire.send(frame)

    with (
        WireClient(upstream) as member,
        TamperingProxy(upstream, {api: change}) as broker,
    ):
        member.ask(Api.JOIN_GROUP, 3, join_body("live"))
        for _ in range(ROUNDS):
            with ClusterAdmin(ClientSettings(broker.address), timeout_ms=2_000) as admin:
                for question in (
                    admin.list_groups,
                    admin.snapshot,
                    lambda: admin.snapshot([GROUP]),
                    lambda: admin.coordinators([GROUP]),
                ):
                    with contextlib.suppress(KgroupsError):
                        question()
    assert api in broker.seen


def _leads_nowhere_else(wire: Wire, frame: bytes) -> bool:
    """Whether a changed Metadata answer names no broker but ours, or cannot be read."""

    def brokers(data: bytes) -> Any:
        answer = read_response(Api(APIS[wire.api].key), wire.version, data)
        return [(row.host, row.port) for row in answer.brokers]

    try:
        return bool(brokers(frame) == brokers(wire.frame))
    except DecodeError:
        return True
