"""Answers that a broker might have sent, with one thing or several wrong, given to our readers.

Run in a process of its own, because bytes that take too much memory may end the process:
`python -m tests.support.hostile.mutations SEED FRAMES`. It prints how many answers were
read, how many refused, and the most memory it held.
"""

import json
import random
import resource
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.reads.member_subscriptions import classic_member
from kgroups.core.kafka.transport.messages import decode_fetched, decode_response
from kgroups.core.kafka.writes.group_writes import decode_written
from kgroups.core.protocol.frames import write_response
from kgroups.core.protocol.table import response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import Member
from tests.support.protocol.random_messages import random_message
from tests.support.protocol.spoken_apis import APIS, api_of

ADDRESS_SPACE_BYTES = 2 << 30

Reader = Callable[[Api, int, bytes], Any]

READERS: dict[str, Reader] = {
    "offset_commit": decode_written,
    "offset_fetch": decode_fetched,
    "offset_delete": decode_written,
    "alter_share_group_offsets": decode_written,
    "delete_share_group_offsets": decode_written,
}
"""Those of APIs that have one of their own."""

CALLS = [(api, v) for api, known in APIS.items() for v in range(known.lowest, known.highest + 1)]
ENDS = [call for call in CALLS if call[1] in (APIS[call[0]].lowest, APIS[call[0]].highest)]
"""The oldest and the newest of each API: fields of the same kinds are read by the same code."""
MANY_FRAMES = 10_000
"""So many are asked for by whoever looks for more."""

EXTREMES = (
    b"\xff\xff\xff\xff\x0f",  # 2^32 - 1 as a varint
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xfe",
    b"\x80\x80\x80\x80\x10",
    b"\xff\xff\xff\x7f",
    b"\xff\xff",
    b"\x00\x00\x00\x00",
)


def answer(api: str, version: int, rng: random.Random) -> bytes:
    """A whole answer of this API with random fields, correlation id first."""
    message = random_message(response_table(api_of(api)), version, rng)
    return bytes(write_response(api_of(api), version, 7, message)[4:])  # after the length


def unnamed_groups(count: int) -> bytes:
    """A ListGroups answer, version 5, of so many groups without a name: five bytes each."""
    length = bytearray()
    left = count + 1
    while left >= 0x80:
        length.append(left & 0x7F | 0x80)
        left >>= 7
    length.append(left)
    head = struct.pack(">ibih", 7, 0, 0, 0)
    return head + bytes(length) + b"\x01\x01\x01\x01\x00" * count + b"\x00"


def everywhere(frame: bytes) -> Iterator[bytes]:
    """The frame with each extreme number at each place, in place of what was there or before it."""
    for place in range(4, len(frame)):
        for extreme in EXTREMES:
            yield frame[:place] + extreme + frame[place + len(extreme) :]
            yield frame[:place] + extreme + frame[place + 1 :]


def mutated(frame: bytes, rng: random.Random) -> bytes:
    """The frame with bytes changed, cut out, doubled or put in."""
    content = bytearray(frame)
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(4, len(content) + 1)
        match rng.randrange(5):
            case 0 if place < len(content):
                content[place] = rng.randrange(256)
            case 1:
                del content[place : place + rng.randrange(1, 9)]
            case 2:
                content[place:place] = content[place : place + rng.randrange(1, 40)]
            case 3:
                content[place:place] = rng.randbytes(rng.randrange(9))
            case _:
                content[place : place + 4] = rng.choice(EXTREMES)
    return bytes(content)


def outcome(api: str, version: int, frame: bytes) -> str:
    """What became of an answer: `read`, or the code of the failure."""
    try:
        READERS.get(api, decode_response)(api_of(api), version, frame)
    except BrokerFailure as failure:
        return failure.code if len(failure.message) < 500 else "LONG_MESSAGE"
    return "read"


def main(seed: int, frames: int) -> None:
    """Give the readers that many frames, and one of each API with everything wrong once.

    Of each version of an API where there are many frames.
    """
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    for api, version in CALLS if frames >= MANY_FRAMES else ENDS:
        samples = (answer(api, version, rng) for _ in range(20))
        sample = min(samples, key=lambda frame: abs(len(frame) - 150))
        for frame in everywhere(sample):
            found[outcome(api, version, frame)] += 1
    for _ in range(frames):
        api, version = rng.choice(CALLS)
        frame = mutated(answer(api, version, rng), rng)
        found[outcome(api, version, frame)] += 1
        classic_member(Member("m", "c", "/host"), frame[4:], frame[4:])
    # `ru_maxrss` would be that of the process which started this one, if that was larger.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
    sys.stdout.write(json.dumps({"peak_bytes": peak, **found}) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
