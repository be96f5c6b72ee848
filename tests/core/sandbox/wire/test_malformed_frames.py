"""Frames that nobody should send: the server stays up, its memory flat, others are served.

Half of the frames are mutations of valid requests (bytes changed, cut, doubled, spliced; names,
ids and numbers that exist and that do not), the rest are noise. The seed is printed and can be
given as KGROUPS_FUZZ_SEED.
"""

import asyncio
import contextlib
import os
import random
import re
import struct
from collections.abc import Callable

import pytest

from kgroups.core.protocol.frames import read_header, write_request
from kgroups.core.protocol.table import request_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.caps import API_VERSIONS
from kgroups.core.sandbox.wire.frame_codec import read_request
from tests.support.protocol.plain import Body
from tests.support.protocol.random_messages import random_message
from tests.support.sandbox.frame_client import WireClient, join_body, request_frame
from tests.support.sandbox.sandbox_process import SandboxProcess

PATIENCE_S = 0.05
CONNECTIONS = 8
WARM_UP = 0.3
MAX_GROWTH_BYTES = 64 * 1024 * 1024

_CALLS = [(api, v) for api, (low, high) in API_VERSIONS.items() for v in range(low, high + 1)]


def frame(rng: random.Random) -> bytes:
    """One frame, length first: noise, a broken header, or a request that was tampered with."""
    kind = rng.random()
    if kind < 0.1:
        noise = rng.randbytes(rng.randrange(60))
        return struct.pack(">i", len(noise)) + noise
    api, version = rng.choice(_CALLS)
    if kind < 0.2:
        body = rng.randbytes(rng.randrange(80))
        return struct.pack(">ihhih", len(body) + 10, api, rng.choice([version, 99]), 1, -1) + body
    content = bytearray(_valid(api, version, rng))
    if kind < 0.9:
        rng.choice(MUTATIONS)(content, rng)
    return struct.pack(">i", len(content)) + content


def _valid(api: Api, version: int, rng: random.Random) -> bytes:
    message = random_message(request_table(api), version, rng)
    return write_request(api, version, rng.randrange(2**31), "fz", message)[4:]


def _change(content: bytearray, rng: random.Random) -> None:
    for _ in range(rng.randrange(1, 4)):
        content[rng.randrange(len(content))] = rng.randrange(256)


def _extreme(content: bytearray, rng: random.Random) -> None:
    place = rng.randrange(len(content))
    content[place : place + 4] = rng.choice(
        [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\0", b"\xff\xff\xff\x0f"]
    )


def _cut(content: bytearray, rng: random.Random) -> None:
    del content[rng.randrange(8, len(content)) :]


def _double(content: bytearray, rng: random.Random) -> None:
    content += content[rng.randrange(len(content)) :]


def _splice(content: bytearray, rng: random.Random) -> None:
    place = rng.randrange(len(content))
    content[place:place] = rng.randbytes(rng.randrange(20))


MUTATIONS: list[Callable[[bytearray, random.Random], None]] = [
    _change,
    _extreme,
    _cut,
    _double,
    _splice,
]


async def attack(address: str, rng: random.Random, frames: int) -> None:
    """Send frames one by one; each is answered, ends the connection, or waits: then a new one."""
    host, port = address.rsplit(":", 1)
    sent = 0
    while sent < frames:
        reader, writer = await asyncio.open_connection(host, int(port))
        with contextlib.suppress(ConnectionError, TimeoutError):
            while sent < frames:
                writer.write(frame(rng))
                sent += 1
                async with asyncio.timeout(PATIENCE_S):
                    if not await reader.read(65536):
                        break
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def attack_together(address: str, seed: int, frames: int) -> None:
    """Several attackers at once."""
    share = frames // CONNECTIONS
    await asyncio.gather(
        *(attack(address, random.Random(seed + number), share) for number in range(CONNECTIONS))
    )


@pytest.mark.parametrize(
    "frames", [4_000, pytest.param(100_000, marks=pytest.mark.slow("a minute of more frames"))]
)
def test_malformed_frames(frames: int) -> None:
    """So many frames later the server answers, has not grown, and a member kept its session."""
    seed = int(os.environ.get("KGROUPS_FUZZ_SEED", "20261122"))
    print(f"KGROUPS_FUZZ_SEED={seed} frames={frames}")
    with (
        SandboxProcess("--topic", "t=4") as server,
        WireClient(server.bootstrap_servers) as member,
    ):
        address = server.bootstrap_servers
        joined = member.ask(
            Api.JOIN_GROUP, 3, join_body("bystanders", session_timeout_ms=1_800_000)
        )
        beat: Body = {
            "group_id": "bystanders",
            "generation_id": joined["generation_id"],
            "member_id": joined["member_id"],
        }
        own = {"member_id": joined["member_id"], "assignment": b"all"}
        member.ask(Api.SYNC_GROUP, 2, {**beat, "assignments": [own]})
        asyncio.run(attack_together(address, seed, int(frames * WARM_UP)))
        warm = server.rss_bytes()
        parts = 10
        for part in range(parts):
            share = int(frames * (1 - WARM_UP)) // parts
            asyncio.run(attack_together(address, seed + 1000 * (part + 1), share))
            assert member.ask(Api.HEARTBEAT, 2, beat)["error_code"] == 0
        grown = server.rss_bytes() - warm
        print(f"memory {warm / 2**20:.0f} MiB, grown by {grown / 2**20:.1f} MiB")
        assert grown < MAX_GROWTH_BYTES
        assert server.process.poll() is None
        failures = re.findall(r".*(?: failed: |Traceback).*", server.stderr())
        assert failures == []
        member.send(Api.API_VERSIONS, 0)
        assert member.receive(Api.API_VERSIONS, 0)["error_code"] == 0
        assert server.stop() == 0


def test_requests_are_valid_before_they_are_changed() -> None:
    """The corpus itself is understood: else every mutation would stop at the first check."""
    rng = random.Random(7)
    for api, version in _CALLS:
        content = _valid(api, version, rng)
        assert read_request(content, read_header(content), "/127.0.0.1").api is api
    assert request_frame(Api.HEARTBEAT, 0, {"group_id": "", "generation_id": 0, "member_id": ""})
