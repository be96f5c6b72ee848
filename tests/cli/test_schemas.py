"""The JSON schemas that are shipped: sound, strict, and one for each document."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from kgroups.cli.nouns import SECTIONS
from tests.support.cli.runner import check_document, run, schemas, validator

CODE = Path(__file__).parents[2] / "cli"


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema of an object inside a schema."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


@pytest.mark.parametrize("name", sorted(schemas()))
def test_schema_is_sound_and_strict(name: str) -> None:
    """A schema is one, and takes no field that it does not name."""
    Draft202012Validator.check_schema(schemas()[name])
    assert [each for each in objects(schemas()[name]) if each["additionalProperties"]] == []


def test_every_document_has_a_schema() -> None:
    """What a command calls its document is the name of a schema, and the other way round."""
    named = set(SECTIONS["Change"])
    named -= {"apply"}  # it makes the documents of the plans that it applies
    named = (named - {"transactions"}) | {"transactions.abort"}  # a noun, and its verb
    for path in CODE.rglob("*.py"):
        named |= set(re.findall(r'SCHEMA = "kgroups\.([a-z.-]+)/1"', path.read_text()))
    assert named | {"snapshot", "common", "scenario", "simulation"} == set(schemas())


@pytest.mark.usefixtures("files")
def test_validation_has_teeth() -> None:
    """A document with a field too many, or one too few, is refused."""
    document = run("describe", "--all-groups", "--from", "shop.json", "-o", "json").document
    check_document(document)
    document["items"][0]["surprise"] = 1
    with pytest.raises(ValidationError):
        check_document(document)
    del document["items"][0]["surprise"], document["items"][0]["state"]
    with pytest.raises(ValidationError):
        check_document(document)


@pytest.mark.usefixtures("files")
def test_saved_snapshot_keeps_to_its_schema() -> None:
    """The file that `snapshot save` writes is a `kgroups.snapshot/1` document."""
    import json

    for name in ("shop.json", "broken.json"):
        validator("snapshot").validate(json.loads(Path(name).read_text(encoding="utf-8")))
