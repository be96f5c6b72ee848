"""Messages as bytes: kio's for every API and version, and what bytes of no message do."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from kio.index import load_request_schema, load_response_schema

from kgroups.core.protocol.budget import Budget, MemoryLimitError, Room
from kgroups.core.protocol.forms import NO_ID, Form
from kgroups.core.protocol.reader import Cursor, DecodeError, decode, reader
from kgroups.core.protocol.table import Table, parse_table, request_table, response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct, writer
from tests.support.protocol.kio_messages import as_message, kio_bytes, random_entity
from tests.support.protocol.newer_tables import add_unknown, with_unknown_tags
from tests.support.protocol.random_messages import random_message, same
from tests.support.protocol.spoken_apis import NEWER_THAN_KIO

ROUNDS = 8
SIDES: dict[str, tuple[Callable[[int], Table], Callable[[int, int], type]]] = {
    "requests": (request_table, load_request_schema),
    "answers": (response_table, load_response_schema),
}

PEOPLE = parse_table(
    """
People 0-2 flexible 2+
    members []struct
        name string
        age int16 1+ default -1
        notes string? 1+ default null
        id uuid
    pets []struct? 2 tag 3
        legs int8
    mayor struct? 1+ default null
        years int32
    """
)


def written(table: Table, version: int, message: Any) -> bytes:
    """The bytes of a message."""
    out = bytearray()
    writer(table, version)(out, message)
    return bytes(out)


def read(table: Table, version: int, data: bytes, budget: Budget | None = None) -> Any:
    """The message in these bytes, and nothing behind it."""
    cursor = Cursor(data, 0, budget)
    message = decode(reader(table, version), cursor)
    assert cursor.pos == len(data)
    return message


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("api", Api, ids=lambda api: api.name)
def test_bytes_are_kios(side: str, api: Api) -> None:
    """Random messages of every version: we write kio's bytes, and read them back."""
    rng = random.Random(f"{side}{api}")
    table_of, load = SIDES[side]
    table = table_of(api)
    for version in table.versions:
        if (api, version) in NEWER_THAN_KIO:
            continue
        for _ in range(ROUNDS):
            entity = random_entity(load(api, version), rng)
            theirs, message = kio_bytes(entity), as_message(entity)
            assert written(table, version, message) == theirs, (version, entity)
            assert same(read(table, version, theirs), message), (version, entity)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("api", "version"), sorted(NEWER_THAN_KIO))
def test_versions_newer_than_kio(side: str, api: Api, version: int) -> None:
    """What is written is read again."""
    rng, table = random.Random(5), SIDES[side][0](api)
    for _ in range(ROUNDS):
        message = random_message(table, version, rng)
        assert same(read(table, version, written(table, version, message)), message)


@pytest.mark.parametrize("api", Api, ids=lambda api: api.name)
def test_unknown_tags_are_passed_over(api: Api) -> None:
    """In each struct of a message, those within tagged fields too."""
    rng = random.Random(20261122)
    for table in (request_table(api), response_table(api)):
        for version in table.flexible:
            if version in table.versions:
                message = random_message(table, version, rng)
                known = read(table, version, written(table, version, message))
                add_unknown(message)
                newer = written(with_unknown_tags(table), version, message)
                assert len(newer) > len(written(table, version, known))
                found = read(table, version, newer)
                assert written(table, version, found) == written(table, version, known)


def test_bytes_by_hand() -> None:
    """Both forms of lengths, null, an unknown tag between known ones."""
    one = Struct(name="a", age=7, notes=None, id=None)
    plain = b"\0\0\0\1" + b"\0\1a" + b"\0\7" + b"\xff\xff" + bytes(16) + b"\xff"
    assert written(PEOPLE, 1, Struct(members=(one,), mayor=None)) == plain
    member = b"\2a" + b"\0\7" + b"\0" + bytes(16) + b"\0"
    compact = b"\2" + member + b"\1\0\0\0\7\0" + b"\1\3\3\2\4\0"
    with_pets = Struct(members=(one,), mayor=Struct(years=7), pets=(Struct(legs=4),))
    assert written(PEOPLE, 2, with_pets) == compact
    tags = b"\3" + b"\1\2xy" + b"\3\3\2\4\0" + b"\5\0"
    found = read(PEOPLE, 2, b"\2" + member + b"\xff" + tags)
    assert found.pets[0].legs == 4
    assert found.mayor is None


def test_what_a_version_lacks_has_kafkas_default() -> None:
    """So nobody needs to know in which version a field came."""
    found = read(PEOPLE, 0, b"\0\0\0\1" + b"\0\1a" + bytes(16))
    assert (found.members[0].age, found.members[0].notes) == (-1, None)
    assert (found.pets, found.mayor) == ((), None)
    assert "name='a'" in repr(found)


def test_what_is_missing_and_has_no_default_is_an_error() -> None:
    """A handler that forgets a field is found out."""
    with pytest.raises(AttributeError, match="id"):
        written(PEOPLE, 0, Struct(members=(Struct(name="a"),)))
    with pytest.raises(TypeError, match="null"):
        written(PEOPLE, 0, Struct(members=(Struct(name=None, id=None),)))


class Person(NamedTuple):
    """What is kept of a member."""

    id: UUID
    name: str
    years: int = 3


class People(NamedTuple):
    """What is kept of people."""

    members: tuple[Person, ...]


def test_classes_of_ones_own() -> None:
    """Fields by name, others dropped, defaults of the class, other names."""
    data = written(PEOPLE, 1, Struct(members=(Struct(name="a", age=7, id=None),)))
    form = Form(People, (("age", "years"),))
    assert decode(reader(PEOPLE, 1, form), Cursor(data)) == People((Person(NO_ID, "a", 7),))
    older = written(PEOPLE, 0, Struct(members=(Struct(name="a", id=None),)))
    assert decode(reader(PEOPLE, 0, form), Cursor(older)) == People((Person(NO_ID, "a", 3),))
    out = bytearray()
    writer(PEOPLE, 1, form.aliases)(out, People((Person(NO_ID, "a", 7),)))
    assert bytes(out) == data


@pytest.mark.parametrize(
    ("version", "data"),
    [
        (0, b""),
        (0, b"\0\0\0\1\0"),
        (0, b"\0\0\0\1\0\1\xff" + bytes(16)),
        (0, b"\xff\xff\xff\xff"),
        (0, b"\xff\xff\xff\xf0"),
        (0, b"\0\0\0\1\xff\xff" + bytes(16)),
        (0, b"\0\0\0\1\0\5ab"),
        (0, b"\0\0\0\1\0\1a" + bytes(15)),
        (0, b"\x7f\xff\xff\xff" + bytes(40)),
        (2, b"\xff\xff\xff\xff\x0f" + bytes(40)),
        (2, b"\x80\x80\x80\x80\x80\x80" + bytes(40)),
        (2, b"\1\xff\1\3\2\1"),
        (2, b"\1\xff\1\3\x7f\1"),
        (2, b"\1\xff\1\4\x7f\1"),
    ],
    ids=lambda value: value.hex() or "empty" if isinstance(value, bytes) else None,
)
def test_bytes_of_no_message(version: int, data: bytes) -> None:
    """Too short, null, negative, no UTF-8, counts and tags that cannot be."""
    with pytest.raises(DecodeError):
        read(PEOPLE, version, data)


def test_cut_and_changed_messages_are_read_or_refused() -> None:
    """Never another exception, whatever the bytes."""
    rng = random.Random(77)
    for api in Api:
        for table in (request_table(api), response_table(api)):
            for version in table.versions:
                data = bytearray(written(table, version, random_message(table, version, rng)))
                for _ in range(ROUNDS):
                    wild = bytearray(data[: rng.randrange(len(data) + 1)])
                    if wild:
                        wild[rng.randrange(len(wild))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
                    cursor = Cursor(bytes(wild))
                    try:
                        decode(reader(table, version), cursor)
                    except DecodeError:
                        continue
                    assert cursor.pos <= len(wild)


def test_an_array_is_paid_before_it_is_made() -> None:
    """As many elements as the memory holds; what is read is taken from what others share."""
    table = parse_table("Numbers 0-0\n    rows []struct\n        number int8")
    data = (1000).to_bytes(4, "big") + bytes(1000)
    with pytest.raises(MemoryLimitError):
        read(table, 0, data, Budget(50_000))
    room = Room(200_000)
    budget = Budget(1 << 30, room)
    read(table, 0, data, budget)
    budget.keep()
    assert room.spent == budget.spent == 1000 * (8 + 56 + 8 + 32)
    room.clear()
    assert room.spent == 0


def test_long_texts_are_paid() -> None:
    """A character may take four bytes."""
    for kind, length_bytes, cost in (("bytes", 4, 1000), ("string", 2, 4000)):
        table, data = parse_table(f"Text 0-0\n    text {kind}"), bytes(1000)
        length = len(data).to_bytes(length_bytes, "big")
        read(table, 0, length + data, Budget(cost))
        with pytest.raises(MemoryLimitError):
            read(table, 0, length + data, Budget(cost - 1))


def test_struct_that_is_all_defaults_is_no_tag() -> None:
    """A tagged struct is left out like a tagged number."""
    table = response_table(Api.FETCH)
    partition = SimpleNamespace(
        partition_index=0,
        high_watermark=0,
        aborted_transactions=None,
        records=b"",
        current_leader=Struct(leader_id=-1, leader_epoch=-1),
    )
    topic = Struct(topic_id=None, partitions=(partition,))
    without = written(table, 16, Struct(responses=(topic,)))
    partition.current_leader = Struct(leader_id=1)
    assert len(written(table, 16, Struct(responses=(topic,)))) > len(without)
