"""The tables of consumer properties beside the libraries themselves."""

from typing import Final

import pytest
from confluent_kafka import Consumer, KafkaException

from kgroups.core.input_files.document import Document
from kgroups.core.simulation.clients.properties import (
    IDENTITY,
    JAVA_NAMES,
    JAVA_RANGES,
    NOT_OF_GROUPS,
    TABLES,
    plain_value,
)
from kgroups.core.simulation.scenario.member_settings import (
    LIBRARY_DEFAULTS,
    SETTINGS,
    Library,
    read_setting,
)
from tests.support.kafka.child import run_program
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command

KINDS: Final = {
    "BOOLEAN": "flag",
    "INT": "whole",
    "LONG": "whole",
    "SHORT": "whole",
    "DOUBLE": "number",
}
UNKNOWN: Final = "No such configuration property"
# For Windows.
OTHER_BUILDS: Final = frozenset({"ssl.ca.certificate.stores"})


@pytest.mark.oracle
def test_the_table_of_the_java_consumer() -> None:
    """Name by name, with type and default, and the range of values with which it starts."""
    said = run_program(java_command(class_path(), "ConsumerProperties"), check=True).stdout
    lines = [line.split("\t") for line in said.splitlines()]
    expected = {
        name: (KINDS.get(kind, "text"), None if default == "-" else default.replace("class ", ""))
        for name, kind, default, _ in lines
    }
    ranges = {name: told.strip("[]").split(",") for name, _, _, told in lines if told != "-"}
    ends = {name: (float(row[0]), row[-1]) for name, row in ranges.items()}
    assert ends == {
        name: (least, "..." if most is None else str(most))
        for name, (least, most) in JAVA_RANGES.items()
    }
    assert len(expected) > 100
    assert {name: tuple(row) for name, row in TABLES["java"].items()} == expected


def refused_name(name: str, value: str) -> str:
    """What librdkafka says of a property, followed by one that nobody knows: it never starts."""
    with pytest.raises(KafkaException) as refused:
        Consumer({"group.id": "g", name: value, "no.such.name": "1"})
    return str(refused.value)


def test_librdkafka_knows_every_name_and_default_of_its_table() -> None:
    """Each is taken, so that only the other name is refused."""
    assert f'{UNKNOWN}: "linger"' in refused_name("linger", "1")
    for name, (_, default) in TABLES["librdkafka"].items():
        said = refused_name(name, default or "")
        if default is None or name in OTHER_BUILDS:
            assert f'{UNKNOWN}: "{name}"' not in said
        else:
            assert f'{UNKNOWN}: "no.such.name"' in said


# Nothing: what the group's protocol stands for.
OWN_WAY: Final = {"partition.assignment.strategy"}


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_a_member_has_the_defaults_of_its_library(library: Library) -> None:
    """Every setting that the library has too."""
    compared = 0
    for name, (kind, default) in TABLES[library].items():
        setting = JAVA_NAMES.get(name, name)
        if name in NOT_OF_GROUPS[library] or setting in OWN_WAY:
            continue
        if setting not in SETTINGS or default is None:
            continue
        value = plain_value(kind, default)
        cursor = Document("", "", "properties", {name: value}).root.child(name, value)
        for field, expected in read_setting(setting, cursor).items():
            assert getattr(LIBRARY_DEFAULTS[library], field) == expected, name
            compared += 1
    assert compared > 20


def test_nothing_of_the_members_own_is_a_setting() -> None:
    """What is said of a member is no setting, and both libraries know it."""
    for name in IDENTITY:
        assert name not in SETTINGS
        assert all(name in table for table in TABLES.values())
