"""Tagged fields of a newer broker: readers pass over those that they do not know (KIP-482)."""

import random
import struct
from typing import Any

import pytest

from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.messages import decode_response
from kgroups.core.protocol import writer as writing
from kgroups.core.protocol.table import response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.varints import write_uvarint
from kgroups.core.protocol.writer import writer
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import run
from tests.support.hostile.mutations import CALLS, READERS
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets, produce
from tests.support.protocol.newer_tables import add_unknown, with_unknown_tags
from tests.support.protocol.random_messages import random_message
from tests.support.protocol.spoken_apis import APIS, api_of

UNKNOWN = {9_000: b"\x01\x02\xff" * 50, 9_001: b""}
HEADER = b"\x01\xa8\x46\x02\xff\xff"


@pytest.mark.parametrize(("api", "version"), CALLS, ids=[f"{api}-v{v}" for api, v in CALLS])
def test_every_answer_is_read(api: str, version: int) -> None:
    """As without the tags: in each struct of it, those within tagged fields too, and its header."""
    rng = random.Random(20261122)
    table = response_table(APIS[api].key)
    newer_table = with_unknown_tags(table)
    has_tags = version in table.flexible and api != "api_versions"
    for _ in range(5):
        message = random_message(table, version, rng)
        frame = bytearray(b"\0\0\0\7" + b"\0" * has_tags)
        writer(table, version)(frame, message)
        add_unknown(message)
        newer = bytearray(b"\0\0\0\7" + HEADER * has_tags)
        writer(newer_table, version)(newer, message)
        reader = READERS.get(api, decode_response)
        assert outcome(reader, api, version, bytes(newer)) == outcome(
            reader, api, version, bytes(frame)
        )


def write_tags(out: bytearray, tags: Any, message: Any) -> None:
    """As the embedded cluster's writer, and two tags more."""
    known = bytearray()
    _write_tags(known, tags, message)
    assert known[0] < 0x7E
    out.append(known[0] + len(UNKNOWN))
    out += known[1:]
    for tag, content in UNKNOWN.items():
        write_uvarint(out, tag)
        write_uvarint(out, len(content))
        out += content


_write_tags = writing._write_tags


def outcome(reader: Any, api: str, version: int, frame: bytes) -> Any:
    """What is read, or why it is not: a random answer may lack what it must have."""
    try:
        found = reader(api_of(api), version, frame)
    except BrokerFailure as failure:
        return str(failure)
    return _comparable(found)


def _comparable(found: Any) -> Any:
    """Failures are told apart by what they say."""
    if isinstance(found, dict):
        return {key: _comparable(each) for key, each in found.items()}
    return str(found) if isinstance(found, BrokerFailure) else found


def test_a_frame_written_by_hand() -> None:
    """ApiVersions v3 with one API; tag 0 holds a feature with a tag 5 of its own, tag 7 is new."""
    feature = b"\x03kr" + struct.pack(">hh", 0, 1) + b"\x01\x05\x01!"
    tags = b"\x02" + b"\x00" + bytes([1 + len(feature)]) + b"\x02" + feature + b"\x07\x02ab"
    api = struct.pack(">hhh", 18, 0, 4) + b"\x01\x00\x00"
    frame = struct.pack(">ih", 7, 58) + b"\x02" + api + struct.pack(">i", 0) + tags
    read = decode_response(Api.API_VERSIONS, 3, frame)
    (feature_read,) = read.supported_features
    assert (feature_read.name, feature_read.max_version) == ("kr", 1)
    assert [(each.api_key, each.max_version) for each in read.api_keys] == [(18, 4)]


@pytest.mark.parametrize("size", [3, 0x7F, 0xFFFFFF])
def test_a_tag_beyond_the_answer_is_refused(size: int) -> None:
    """A length that the bytes cannot hold."""
    frame = struct.pack(">ih", 7, 0) + b"\x01" + struct.pack(">i", 0) + b"\x01\x63"
    out = bytearray(frame)
    write_uvarint(out, size)
    with pytest.raises(BrokerFailure) as caught:
        decode_response(Api.API_VERSIONS, 3, bytes(out) + b"ab")
    assert caught.value.code == "CORRUPT_MESSAGE"


def test_a_newer_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of both protocols are listed, described, reset and deleted."""
    with Sandbox(brokers=1, topics={"t": 2}) as cluster:
        at = ("-b", cluster.bootstrap_servers)
        produce(cluster.bootstrap_servers, {("t", 0): 10, ("t", 1): 10})
        commit_offsets(cluster.bootstrap_servers, {"idle": {("t", 0): 5}})
        members = [MemberSpec("member", ("t",))]
        with LiveGroup(cluster.bootstrap_servers, "kip848", members, protocol="consumer") as live:
            live.wait_stable(2)
            monkeypatch.setattr(writing, "_write_tags", write_tags)  # the helpers read with kio
            described = run(*at, "describe", "kip848", "--members", "-o", "json")
            assert described.exit_code == 0, described.stderr
            (group,) = described.document["items"]
            assert (group["type"], len(group["members"])) == ("consumer", 1)
            listed = run(*at, "list", "-o", "json").document
            assert [item["group"] for item in listed["items"]] == ["idle", "kip848"]
        for line in (
            ("reset-offsets", "idle", "--to", "latest", "--all-topics", "--yes"),
            ("delete-offsets", "idle", "--topic", "t", "--yes"),
            ("delete-records", "t", "--before", "5", "--yes"),
            ("delete", "kip848", "--yes"),
        ):
            done = run(*at, *line, "-o", "json", env={"KGROUPS_NO_UNDO": "1"})
            assert done.exit_code == 0, (line, done.stderr)
            assert {item["result"] for item in done.document["items"]} == {"done"}
