"""Messages as JSON, beside Kafka's own JsonConverter classes."""

import json
import os
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from kio.index import load_request_schema, load_response_schema

from kgroups.core.sandbox.apis import API_VERSIONS, Api
from kgroups.core.sandbox.wire.json_codec import json_codec
from kgroups.core.sandbox.wire.schema import Body, Cursor, DecodeError, fields_of, struct_codec
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command
from tests.support.kafka.line_process import LineProcess
from tests.support.sandbox.random_messages import random_body

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


def schema_of(api: Api, version: int, *, response: bool) -> type:
    """kio's class."""
    load = load_response_schema if response else load_request_schema
    found: type = load(api, version)
    return found


def bytes_of(schema: type, body: Body) -> bytes:
    """The message without a header."""
    out = bytearray()
    struct_codec(schema)[1](out, body)
    return bytes(out)


@pytest.mark.oracle
@pytest.mark.parametrize(("api", "response"), SIDES)
def test_equal_to_kafkas_converters(ask: Ask, api: Api, response: bool) -> None:
    """In every version of Kafka 4.3: JSON of bytes and bytes of JSON, to the order of fields."""
    known = 0
    for version in range(API_VERSIONS[api][0], API_VERSIONS[api][1] + 1):
        schema = schema_of(api, version, response=response)
        read, write = json_codec(schema)
        for case in range(CASES):
            seed = f"{SEED} {api.kafka_name} {version} {response} {case}"
            body = random_body(schema, Random(seed))
            raw = bytes_of(schema, body)
            theirs = ask(api, version, response=response, bytes=raw.hex())
            if "versions" in theirs:
                break  # kio knows older versions than Kafka 4 does
            known += 1
            ours = write(body)
            assert json.dumps(ours) == json.dumps(theirs["json"]), seed
            assert theirs["bytes"] == raw.hex(), seed
            assert bytes_of(schema, read(theirs["json"])) == raw, seed
            assert read(theirs["json"]) == struct_codec(schema)[0](Cursor(raw)), seed
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
    schema = schema_of(Api.OFFSET_COMMIT, 9, response=False)
    theirs = ask(Api.OFFSET_COMMIT, 9, response=False, json=message)
    assert bytes_of(schema, json_codec(schema)[0](message)).hex() == theirs["bytes"]


@pytest.mark.oracle
@pytest.mark.parametrize("name", WRONG)
def test_what_kafka_refuses(ask: Ask, name: str) -> None:
    """Refused here, too, with the place."""
    given: Any = WRONG[name]
    if isinstance(given, dict) and name != "a missing field":
        given = COMMIT | given
    theirs = ask(Api.OFFSET_COMMIT, 9, response=False, json=given)
    assert "error" in theirs
    schema = schema_of(Api.OFFSET_COMMIT, 9, response=False)
    with pytest.raises(DecodeError, match=r"\w"):
        json_codec(schema)[0](given)


def test_the_place_of_what_is_wrong() -> None:
    """Fields by Kafka's names, elements by their index."""
    read, _ = json_codec(schema_of(Api.OFFSET_COMMIT, 9, response=False))
    topics = [{"name": "t", "partitions": [{"partitionIndex": "x"}]}]
    place = r"^topics: \[0\]: partitions: \[0\]: partitionIndex: no whole number$"
    with pytest.raises(DecodeError, match=place):
        read(COMMIT | {"topics": topics})


@pytest.mark.parametrize(
    ("api", "version", "field"),
    [(Api.SYNC_GROUP, 5, "assignment"), (Api.JOIN_GROUP, 9, "metadata")],
)
@pytest.mark.parametrize("text", ["\u00e9", "a", "=a=="])
def test_bytes_that_are_no_base64(api: Api, version: int, field: str, text: str) -> None:
    """Refused with the place, whatever the letters."""
    schema = schema_of(api, version, response=False)
    read, write = json_codec(schema)
    message = write(random_body(schema, Random(1)))
    (array,) = (name for name, value in message.items() if isinstance(value, list))
    message[array] = [{"name": "p", "memberId": "m", field: text}]
    with pytest.raises(DecodeError, match=rf"^{array}: \[0\]: {field}: "):
        read(message)


def test_every_field_has_a_name_of_kafkas() -> None:
    """Camel case, and the unit of durations back."""
    _, write = json_codec(schema_of(Api.JOIN_GROUP, 9, response=False))
    body = random_body(schema_of(Api.JOIN_GROUP, 9, response=False), Random(3))
    assert {"sessionTimeoutMs", "rebalanceTimeoutMs", "groupInstanceId"} <= write(body).keys()
    assert len(write(body)) == len(list(fields_of(schema_of(Api.JOIN_GROUP, 9, response=False))))
