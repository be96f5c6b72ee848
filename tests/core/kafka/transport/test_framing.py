"""Messages as bytes: versions, frames, numbers that nobody knows yet."""

import struct
import sys

import pytest

from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.framing import (
    APIS,
    VersionRange,
    choose_version,
    decode_response,
    encode_request,
    schema,
)
from tests.support.kafka.child import run_program

CHOICES = [
    ("both know more than the other", "offset_fetch", VersionRange(1, 10), 9),
    ("an older broker", "offset_fetch", VersionRange(0, 6), 6),
    ("a newer broker that dropped ours", "offset_fetch", VersionRange(10, 12), None),
    ("too old a broker", "metadata", VersionRange(0, 4), None),
    ("not offered", "offset_fetch", None, None),
    ("one version in common", "list_offsets", VersionRange(7, 11), 7),
]


@pytest.mark.parametrize(
    ("api", "offered", "version"), [c[1:] for c in CHOICES], ids=[c[0] for c in CHOICES]
)
def test_highest_common_version_is_chosen(
    api: str, offered: VersionRange | None, version: int | None
) -> None:
    """The highest version of both sides, or none."""
    assert choose_version(api, offered) == version


ALL = [(api, version) for api in APIS for version in range(APIS[api].lowest, APIS[api].highest + 1)]


@pytest.mark.parametrize(("api", "version"), ALL, ids=[f"{api}-v{version}" for api, version in ALL])
def test_every_version_of_the_table_exists(api: str, version: int) -> None:
    """kio has a request and a response of every version that we would choose, with this key."""
    for direction in ("request", "response"):
        name = "".join(word.capitalize() for word in [*api.split("_"), direction])
        assert getattr(schema(api, version, direction), name).__api_key__ == APIS[api].key


BODIES = {
    "metadata": requests.metadata(["t"]),
    "find_coordinator": requests.find_coordinator(["g"]),
    "list_groups": requests.list_groups(),
    "offset_fetch": requests.offset_fetch(["g"]),
    "list_offsets": requests.list_offsets({"t": [0]}, requests.LATEST, "read_committed"),
    "delete_groups": requests.delete_groups(["g"]),
} | {
    api: requests.describe_groups(api, ["g"])
    for api in (
        "describe_groups",
        "consumer_group_describe",
        "share_group_describe",
        "streams_group_describe",
    )
}
BUILT = [(api, version) for api, version in ALL if api in BODIES]


@pytest.mark.parametrize(
    ("api", "version"), BUILT, ids=[f"{api}-v{version}" for api, version in BUILT]
)
def test_every_request_is_encoded_at_every_version(api: str, version: int) -> None:
    """The frame has its length, key, version and correlation id in front."""
    frame = encode_request(api, version, 7, "kgroups", BODIES[api](version))
    size, key, written, correlation_id = struct.unpack_from(">ihhi", frame)
    assert (size, key, written, correlation_id) == (len(frame) - 4, APIS[api].key, version, 7)


def test_answer_of_find_coordinator_is_read() -> None:
    """Bytes written by hand, header with tagged fields included."""
    frame = struct.pack(">ib", 7, 0) + struct.pack(">i", 0) + b"\x02\x02g"
    frame += struct.pack(">i", 1) + b"\x02h" + struct.pack(">ih", 9092, 0) + b"\x00\x00\x00"
    answer = decode_response("find_coordinator", 4, frame)
    (item,) = answer.coordinators
    assert (item.key, item.node_id, item.host, item.port, item.error_code) == ("g", 1, "h", 9092, 0)


def test_error_number_from_the_future_is_named() -> None:
    """A number that kio does not know is a failure with that number, not a crash."""
    frame = struct.pack(">ib", 7, 0) + struct.pack(">i", 0) + b"\x02\x02g"
    frame += struct.pack(">h", 999) + b"\x00\x00"
    with pytest.raises(BrokerFailure) as caught:
        decode_response("delete_groups", 2, frame)
    assert caught.value.code == "UNKNOWN_ERROR_999"
    assert "999" in caught.value.message


@pytest.mark.parametrize("size", range(4, 24))
def test_cut_answer_is_a_failure(size: int) -> None:
    """Whatever is missing, it is a failure of that broker."""
    frame = struct.pack(">ib", 7, 0) + struct.pack(">i", 0) + b"\x02\x02g"
    frame += struct.pack(">i", 1) + b"\x02h" + struct.pack(">ih", 9092, 0) + b"\x00\x00\x00"
    with pytest.raises(BrokerFailure) as caught:
        decode_response("find_coordinator", 4, frame[:size])
    assert caught.value.code == "CORRUPT_MESSAGE"


def test_hypothesis_is_not_imported_with_kio() -> None:
    """kio would import it for its own tests, which costs more than the whole listing."""
    code = (
        "import sys\n"
        "from kgroups.core.kafka.transport.framing import schema\n"
        "schema('metadata', 12, 'request')\n"
        "assert 'kio.serial' in sys.modules\n"
        "assert not [m for m in sys.modules if m.startswith(('hypothesis', 'confluent'))]\n"
        "import hypothesis.strategies\n"
    )
    run_program([sys.executable, "-c", code], check=True)
