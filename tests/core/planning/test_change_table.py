"""One table of what-if changes: options, keys of scenario files and both schemas follow from it."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import kgroups.cli.schemas as schemas
from kgroups.cli.commands.plan.plan import HELP, plan
from kgroups.cli.commands.plan.plan_options import changes_help
from kgroups.core.input_files.document import parse_document
from kgroups.core.planning.changes.change_table import CHANGES, ChangeOption
from kgroups.core.planning.confidence import DEFINITIONS
from kgroups.core.planning.scenario import parse_scenario

EXAMPLES = {
    "remove_member": "a",
    "drop_host": "h",
    "set_partitions": "t=4",
    "add_topic": "u=2",
    "add_members": "2:app,client=java,topics=t",
    "subscribe": "+t",
    "pattern": "java:t.*",
    "restart": "a",
    "expire": "a",
    "rolling_restart": "all",
    "switch_client": "sarama",
    "to_protocol": "consumer",
}


def schema(name: str) -> Any:
    """A schema as it is packaged."""
    return json.loads((Path(str(schemas.__path__[0])) / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("option", CHANGES, ids=lambda option: option.key)
def test_every_change_has_an_option_and_a_key(option: ChangeOption) -> None:
    """The command takes it, the help explains it, a scenario file may hold it."""
    parameters = inspect.signature(plan).parameters
    assert option.key in parameters
    assert f"  {option.flag} {option.usage}" in changes_help()
    text = (
        "topics: {t: 2}\ngroups:\n  g:\n    members: {a: {topics: [t]}}\n"
        f"    changes: [{{{option.key}: '{EXAMPLES[option.key]}'}}]\n"
    )
    scenario = parse_scenario(parse_document(text, "s.yaml", "yaml"))
    assert scenario.changes["g"] == (option.parse(EXAMPLES[option.key]),)


def test_the_schema_of_scenarios_follows() -> None:
    """Its keys and descriptions are the table's."""
    group = schema("scenario")["properties"]["groups"]["additionalProperties"]
    changes = group["properties"]["changes"]["items"]["properties"]
    assert {key: each["description"] for key, each in changes.items()} == {
        option.key: f"{option.usage}: {option.about}" for option in CHANGES
    }


def test_the_words_of_confidence_have_one_definition() -> None:
    """Help and schema say the same of each."""
    item = schema("plan")["properties"]["items"]["items"]["properties"]
    told = "; ".join(f"{word}: {text}" for word, text in DEFINITIONS.items())
    assert item["confidence"]["description"] == told
    assert item["confidence"]["enum"] == [*DEFINITIONS, None]
    for word, text in DEFINITIONS.items():
        assert f"  {word:9} {text}" in HELP
