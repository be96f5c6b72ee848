"""`scripts/kafka_changes.py`: what a new release of Kafka changed."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from kgroups.core.protocol.errors import ErrorCode
from scripts.kafka_changes import facts, message_changes
from tests.support.kafka.jars import kafka_jars


def jar_of(folder: Path, **versions: str) -> Path:
    """A folder with a jar of definitions, each with these versions, and a field since version 1."""
    folder.mkdir()
    with ZipFile(folder / "clients.jar", "w") as jar:
        for name, valid in versions.items():
            fields = [
                {"name": "GroupId", "type": "string", "versions": "0+"},
                {"name": "ErrorMessage", "type": "string", "versions": "1+"},
            ]
            definition = {
                "name": name,
                "validVersions": valid,
                "flexibleVersions": "none",
                "fields": fields,
            }
            jar.writestr(f"common/message/{name}.json", "// Of Kafka.\n" + json.dumps(definition))
    return folder


def test_messages_that_changed(tmp_path: Path) -> None:
    """A version more, a message more, one fewer; what is the same, or not valid, is not told."""
    old = jar_of(tmp_path / "old", Deleted="0", Grown="0", Same="0-1", Withdrawn="none")
    new = jar_of(tmp_path / "new", Added="0", Grown="0-1", Same="0-1", Withdrawn="none")
    assert list(message_changes(old, new)) == [
        "",
        "Added",
        "+Added 0-0",
        "+    group_id string",
        "",
        "Deleted",
        "-Deleted 0-0",
        "-    group_id string",
        "",
        "Grown",
        "-Grown 0-0",
        "+Grown 0-1",
        "     group_id string",
        "+    error_message string 1",
    ]


@pytest.mark.oracle
def test_errors_and_settings_of_a_release() -> None:
    """Its errors are those that we know, up to its last; its settings have type and default."""
    found = facts(kafka_jars())
    errors = {
        int(number): name for word, number, name, *_ in map(str.split, found) if word == "error"
    }
    assert errors == {code: code.name for code in ErrorCode if code <= max(errors)}
    assert max(errors) > 130
    assert "broker property group.consumer.assignment.interval.ms INT 1000" in found
    assert "group setting consumer.session.timeout.ms INT 45000" in found
