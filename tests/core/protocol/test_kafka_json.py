"""Messages as JSON, beside Kafka's own JsonConverter classes."""

import json
import os
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from kgroups.core.protocol.kafka_json import from_json, to_json
from kgroups.core.protocol.reader import Cursor, DecodeError, decode, reader
from kgroups.core.protocol.table import Table, fields_at, request_table, response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import writer
from kgroups.core.sandbox.caps import API_VERSIONS, caps_of
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command
from tests.support.kafka.line_process import LineProcess
from tests.support.kafka.releases import NEWEST
from tests.support.protocol.random_messages import random_message

CASES = int(os.environ.get("KGROUPS_FUZZ_CASES", "12"))
SEED = int(os.environ.get("KGROUPS_FUZZ_SEED", "1"))
# Kafka writes batches of records as their size.
WITH_RECORDS = frozenset({(Api.PRODUCE, False), (Api.FETCH, True)})
SIDES = [
    (api, response)
    for api in API_VERSIONS
    for response in (False, True)
    if (api, response) not in WITH_RECORDS
]

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Kafka's converters: fields of a line -> fields of the answer."""
    with LineProcess(java_command(class_path(), "MessageJson")) as java:

        def answer(api: Api, version: int, *, response: bool, **what: object) -> dict[str, Any]:
            asked = {"api": api.value, "version": version, "response": response, **what}
            java.say(json.dumps(asked))
            heard: dict[str, Any] = json.loads(java.hear())
            return heard

        yield answer


def bytes_of(table: Table, version: int, message: Any) -> bytes:
    """The message without a header."""
    out = bytearray()
    writer(table, version)(out, message)
    return bytes(out)


@pytest.mark.oracle
@pytest.mark.parametrize(("api", "response"), SIDES)
def test_equal_to_kafkas_converters(ask: Ask, api: Api, response: bool) -> None:
    """In every version that is served: JSON of bytes and bytes of JSON, to the order of fields.

    As far as the release has them whose classes are asked.
    """
    known = 0
    lowest, highest = caps_of(NEWEST).get(api, API_VERSIONS[api])
    table = response_table(api) if response else request_table(api)
    for version in range(lowest, highest + 1):
        for case in range(CASES):
            seed = f"{SEED} {api.kafka_name} {version} {response} {case}"
            message = random_message(table, version, Random(seed))
            raw = bytes_of(table, version, message)
            theirs = ask(api, version, response=response, bytes=raw.hex())
            assert "versions" not in theirs, seed
            known += 1
            read = decode(reader(table, version), Cursor(raw))
            for ours in (to_json(table, version, message), to_json(table, version, read)):
                assert json.dumps(ours) == json.dumps(theirs["json"]), seed
            assert theirs["bytes"] == raw.hex(), seed
            assert bytes_of(table, version, from_json(table, version, theirs["json"])) == raw, seed
    assert known


WRONG = {
    "no object": [],
    "a missing field": {"groupId": "g"},
    "a number for text": {"groupId": 1},
    "null for text": {"groupId": None},
    "text for a number": {"generationIdOrMemberEpoch": "12"},
    "a fraction": {"generationIdOrMemberEpoch": 1.5},
    "too large": {"generationIdOrMemberEpoch": 1 << 31},
    "true for a number": {"generationIdOrMemberEpoch": True},
    "no array": {"topics": {}},
    "null for an array": {"topics": None},
    "within an array": {"topics": [{"name": "t", "partitions": [{"partitionIndex": "x"}]}]},
}
FINE: dict[str, dict[str, Any]] = {
    "plain": {},
    "unknown fields": {"color": "red"},
    "null where it may be": {"groupInstanceId": None},
}
COMMIT = {
    "groupId": "g",
    "generationIdOrMemberEpoch": 1,
    "memberId": "m",
    "groupInstanceId": "i",
    "topics": [],
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", FINE)
def test_what_kafka_reads(ask: Ask, name: str) -> None:
    """Read as Kafka reads it."""
    message = COMMIT | FINE[name]
    theirs = ask(Api.OFFSET_COMMIT, 9, response=False, json=message)
    table = request_table(Api.OFFSET_COMMIT)
    assert bytes_of(table, 9, from_json(table, 9, message)).hex() == theirs["bytes"]


@pytest.mark.oracle
@pytest.mark.parametrize("name", WRONG)
def test_what_kafka_refuses(ask: Ask, name: str) -> None:
    """Refused here, too, with the place."""
    given: Any = WRONG[name]
    if isinstance(given, dict) and name != "a missing field":
        given = COMMIT | given
    theirs = ask(Api.OFFSET_COMMIT, 9, response=False, json=given)
    assert "error" in theirs
    with pytest.raises(DecodeError, match=r"\w"):
        from_json(request_table(Api.OFFSET_COMMIT), 9, given)


def test_the_place_of_what_is_wrong() -> None:
    """Fields by Kafka's names, elements by their index."""
    topics = [{"name": "t", "partitions": [{"partitionIndex": "x"}]}]
    place = r"^topics: \[0\]: partitions: \[0\]: partitionIndex: no whole number$"
    with pytest.raises(DecodeError, match=place):
        from_json(request_table(Api.OFFSET_COMMIT), 9, COMMIT | {"topics": topics})


@pytest.mark.parametrize(
    ("api", "version", "field"),
    [(Api.SYNC_GROUP, 5, "assignment"), (Api.JOIN_GROUP, 9, "metadata")],
)
@pytest.mark.parametrize("text", ["\u00e9", "a", "=a=="])
def test_bytes_that_are_no_base64(api: Api, version: int, field: str, text: str) -> None:
    """Refused with the place, whatever the letters."""
    table = request_table(api)
    message = to_json(table, version, random_message(table, version, Random(1)))
    (array,) = (name for name, value in message.items() if isinstance(value, list))
    message[array] = [{"name": "p", "memberId": "m", field: text}]
    with pytest.raises(DecodeError, match=rf"^{array}: \[0\]: {field}: "):
        from_json(table, version, message)


def test_every_field_has_a_name_of_kafkas() -> None:
    """Camel case, and the unit of durations back."""
    table = request_table(Api.JOIN_GROUP)
    document = to_json(table, 9, random_message(table, 9, Random(3)))
    assert {"sessionTimeoutMs", "rebalanceTimeoutMs", "groupInstanceId"} <= document.keys()
    assert len(document) == len(list(fields_at(table.fields, 9)))
