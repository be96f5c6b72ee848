"""`kgroups schema` and `kgroups explain`: complete over what the program can print."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

import pytest
import yaml
from jsonschema import Draft202012Validator

from kgroups.assignors.other_clients.kafkajs import NAME as KAFKAJS
from kgroups.assignors.registry import CLIENT_ASSIGNORS, SERVER_ASSIGNORS
from kgroups.cli.commands.reference.explain import EVERY
from kgroups.cli.meanings.client_properties import CONSUMER_PROPERTIES
from kgroups.cli.meanings.group_states import CLASSIC, CONSUMER, CONSUMER_MEMBER, STATES_OF
from kgroups.cli.meanings.judgements import WORDS_OF
from kgroups.cli.meanings.meaning import Kind
from kgroups.cli.meanings.protocol_words import ASSIGNORS, PROTOCOL
from kgroups.cli.params import GROUP_TYPES, plain
from kgroups.core import errors
from kgroups.core.conditions.verdicts import Verdict
from kgroups.core.coordinator.classic.states import ClassicState
from kgroups.core.coordinator.client.kip848 import member as kip848_client
from kgroups.core.coordinator.kip848.group import Kip848GroupState
from kgroups.core.coordinator.kip848.member import MemberState
from kgroups.core.history.broker_log import REASONS, SAYINGS
from kgroups.core.history.causes import RULES
from kgroups.core.history.moment import EXACTNESSES
from kgroups.core.lag.group_times import Method
from kgroups.core.lag.rules import LagStatus
from kgroups.core.offsets.expiry import WORDS as EXPIRY_WORDS
from kgroups.core.offsets.result import RESULTS
from kgroups.core.planning.confidence import DEFINITIONS
from kgroups.core.protocol.errors import MEANINGS
from kgroups.core.simulation.clients.own_names import OWN_NAMES
from kgroups.core.simulation.clients.properties import IDENTITY, TABLES
from kgroups.core.simulation.scenario.member_settings import PROTOCOLS, SETTINGS
from tests.support.cli.command_tree import command_paths
from tests.support.cli.runner import run, schemas

ROOT: Final = Path(__file__).parents[3]
SCHEMA_IDS: Final = {schema["$id"] for schema in schemas().values()}
CODES: Final = {each.code for each in EVERY}

NO_DOCUMENT: Final = {
    "apply": "prints the document of the command that made the plan",
    "completion": "prints a script",
    "official": "prints the layouts of Kafka's tools",
}
"""Commands without a document, with the reason."""

NO_CODES: Final = {
    "INVALID_MSG": "librdkafka's name, which is translated",
    "NOT_LEADER_FOR_PARTITION": "likewise",
    "TOPIC_EXCEPTION": "likewise",
    "UNKNOWN_TOPIC_OR_PART": "likewise",
    "JAVA_HOME": "a variable of the environment",
    "PYSPARK_DRIVER_PYTHON": "likewise",
    "PYSPARK_PYTHON": "likewise",
    "AWS_DEFAULT_REGION": "a variable of the environment",
    "AWS_MSK_IAM": "a SASL mechanism",
    "AWS_REGION": "a variable of the environment",
    "GOOGLE_APPLICATION_CREDENTIALS": "likewise",
    "HADOOP_CONF_DIR": "likewise",
    "PYSPARK_GATEWAY_PORT": "likewise",
    "SPARK_CONF_DIR": "likewise",
    "SPARK_HOME": "likewise",
    "YARN_CONF_DIR": "likewise",
    "SASL_PLAINTEXT": "a security protocol",
    "SASL_SSL": "likewise",
}
"""Words in the code that look like codes of errors and are none."""


@cache
def words_like_codes() -> frozenset[str]:
    """Every text of the product that is written as codes of errors are."""
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for top in ("assignors", "core", "cli")
        for path in (ROOT / top).rglob("*.py")
    )
    return frozenset(re.findall(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"', text))


def test_every_error_code_is_explained() -> None:
    """Those of the broker table, of the error tree, and every other that the code can give."""
    ignored = {word for word in words_like_codes() if word.startswith(("KGROUPS_", "XDG_"))}
    assert words_like_codes() - ignored - NO_CODES.keys() - CODES == set()
    assert MEANINGS.keys() <= CODES
    tree = [errors.KgroupsError]
    for kind in tree:
        tree += kind.__subclasses__()
    own = [kind for kind in tree if kind.__module__ == errors.__name__]
    assert len(own) > 7
    assert {kind.default_code for kind in own} <= CODES
    assert NO_CODES.keys() <= words_like_codes()


def test_every_exit_code_is_explained() -> None:
    """As docs/scripting.md lists them, and as the classes of errors have them."""
    page = (ROOT / "docs" / "scripting.md").read_text(encoding="utf-8")
    table = page.partition("## Exit codes")[2].partition("\n\nOne bad")[0]
    listed = set(re.findall(r"^\| (\d+) \|", table, re.MULTILINE))
    explained = {each.code for each in EVERY if each.kind == "exit code"}
    assert explained == listed
    tree = {str(kind.exit_code) for kind in errors.KgroupsError.__subclasses__()}
    assert tree <= explained


WORDS: Final[dict[Kind, set[str]]] = {
    "verdict of check": set(get_args(Verdict)),
    "confidence of a plan": set(DEFINITIONS),
    "lag_status": set(get_args(LagStatus)),
    "result": set(RESULTS),
    "expiry": set(EXPIRY_WORDS),
    "exactness": set(EXACTNESSES),
    "cause of a change": {
        *(rule.cause for rule in RULES),
        *(saying.cause for saying in SAYINGS if saying.cause),
        *REASONS.values(),
    },
}
COLUMNS: Final[dict[Kind, str]] = {
    "verdict of lag": "verdict",
    "verdict rule": "verdict_rule",
    "confidence of lag_seconds": "lag_seconds_confidence",
    "lag_seconds_method": "lag_seconds_method",
    "trend": "trend",
}


def test_every_word_is_explained() -> None:
    """Verdicts, confidence, statuses, results: the very words that the code has, and no other."""
    columns = schemas()["lag.report"]["properties"]["items"]["items"]["properties"]
    words = {kind: set(columns[name]["enum"]) - {None} for kind, name in COLUMNS.items()}
    words["lag_seconds_method"] |= set(get_args(Method))
    assert {kind: set(rows) for kind, rows in WORDS_OF.items()} == words | WORDS


def test_every_state_is_explained() -> None:
    """Those that our coordinator and clients have, and no other; an ended client says none."""
    assert set(CLASSIC) == set(ClassicState)
    assert set(CONSUMER) == {*Kip848GroupState, "Dead"}
    own = {plain(state) for state in kip848_client.MemberState} - {"closed"}
    stored = {plain(state.name) for state in MemberState}
    assert set(map(plain, CONSUMER_MEMBER)) == own | stored


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("state", ["COMPLETING_REBALANCE", "not-ready", "stable"])
def test_states_in_any_spelling(state: str) -> None:
    """As Java's constants are written, too."""
    assert run("list", "--state", state, "--from", "shop.json").exit_code == 0


@pytest.mark.parametrize(
    ("state", "hint"),
    [
        ("awaiting-sync", "it is now called CompletingRebalance"),
        ("Unjoined", "a state of members, not of groups: see `kgroups explain UNJOINED`"),
        ("nope", "one of Empty, PreparingRebalance"),
    ],
)
def test_what_is_no_state_of_groups(state: str, hint: str) -> None:
    """What was meant is said, by every command that takes states."""
    for command in (("list",), ("delete",)):
        outcome = run(*command, "--state", state)
        assert (outcome.exit_code, hint in outcome.stderr) == (2, True), outcome


def test_every_word_of_the_protocols_is_explained() -> None:
    """Types of groups, protocols of simulations, every assignor there is."""
    assert {*GROUP_TYPES, *PROTOCOLS} <= set(PROTOCOL)
    assert {*CLIENT_ASSIGNORS, *SERVER_ASSIGNORS, KAFKAJS} <= set(ASSIGNORS)


def test_every_consumer_property_is_explained() -> None:
    """Those that a simulated member takes; of the Java consumer with the default of its table."""
    explained = {each.code: each for each in CONSUMER_PROPERTIES}
    assert {*SETTINGS, *IDENTITY} - {"commit.each.poll"} <= set(explained)
    for library, names in OWN_NAMES.items():
        assert set(names.values()) <= set(explained), library
    for name, (_, value) in TABLES["java"].items():
        if name in explained and name != "partition.assignment.strategy":
            latest = [each for each in explained[name].defaults if each.client == "java"][-1]
            assert latest.value == (value or None)


def test_a_property_by_the_name_of_a_library() -> None:
    """With its former defaults, and what it does to a rebalance."""
    for name in ("session.timeout.ms", "Consumer.Group.Session.Timeout", "session_timeout_ms"):
        (item,) = run("explain", name, "-o", "json").document["items"]
        assert item["code"] == "session.timeout.ms"
        assert {"client": "java", "versions": "0.10.2 to 2.8", "value": "10000"} in item["defaults"]
        assert "keeps its partitions" in item["on_rebalance"]
    assert "45000 (java 3.0 to 4.4, librdkafka" in run("explain", "sessionTimeout").stdout
    java = "org.apache.kafka.clients.consumer.StickyAssignor"
    assert run("explain", java, "-o", "json").document["items"][0]["code"] == "sticky"


def test_explained_by_subject() -> None:
    """Without a word all of them, each subject in one piece; a subject lists its words."""
    kinds = [item["kind"] for item in run("explain", "-o", "json").document["items"]]
    assert len(
        [kind for kind, before in zip(kinds, [None, *kinds], strict=False) if kind != before]
    ) == len(set(kinds))
    items = run("explain", "state of a streams group", "-o", "json").document["items"]
    assert [item["code"] for item in items] == list(STATES_OF["state of a streams group"])


def test_explanations_are_phrases() -> None:
    """A meaning each, and what to do where something can be done; nothing is said twice."""
    assert len({(each.code, each.kind) for each in EVERY}) == len(EVERY)
    assert set(get_args(Kind)) == {each.kind for each in EVERY}
    for each in EVERY:
        assert each.meaning
        assert not each.meaning.endswith(".")
        assert each.exit_code in (None, 0, 129, 130, 143) or each.to_do, each


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("non_empty_group", ["error"]),
        ("Stall", ["verdict of lag"]),
        ("6", ["exit code"]),
        ("unjoined", ["state of a classic member"]),
        ("awaiting-sync", ["former state of a group"]),
        ("PREPARING_REBALANCE", ["state of a classic group", "state of a classic member"]),
        ("below-log-start", ["lag_status"]),
        ("ok", ["verdict of check", "verdict of lag", "lag_status"]),
    ],
)
def test_codes_in_any_spelling(text: str, kinds: list[str]) -> None:
    """And all that a word may mean."""
    document = run("explain", text, "-o", "json").document
    assert [item["kind"] for item in document["items"]] == kinds


def test_a_broker_error_is_told_as_commands_tell_it() -> None:
    """One table for both."""
    (item,) = run("explain", "NON_EMPTY_GROUP", "-o", "json").document["items"]
    meaning = MEANINGS["NON_EMPTY_GROUP"]
    assert (item["exit_code"], item["meaning"], item["to_do"]) == meaning


def test_an_unknown_code() -> None:
    """The nearest ones are named."""
    outcome = run("explain", "NON_EMTY_GROUP")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "did you mean `NON_EMPTY_GROUP`" in outcome.stderr


@pytest.mark.parametrize("path", [path for path in command_paths() if path], ids=" ".join)
def test_the_schema_of_every_command(path: tuple[str, ...]) -> None:
    """A command without a document is named, with the reason."""
    is_noun = any(other[: len(path)] == path and other != path for other in command_paths())
    outcome = run("schema", *path)
    has_one = path[0] not in NO_DOCUMENT and not is_noun
    if outcome.exit_code == 0:
        assert path[0] not in NO_DOCUMENT
        assert json.loads(outcome.stdout)["$id"] in SCHEMA_IDS
    else:
        assert (outcome.exit_code, has_one) == (2, False), outcome


@pytest.mark.usefixtures("files")
def test_a_schema_needs_no_other_file() -> None:
    """A validator that knows nothing else takes the document, and refuses a wrong one."""
    schema = json.loads(run("schema", "describe").stdout)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    document = run("describe", "--all-groups", "--from", "shop.json", "-o", "json").document
    validator.validate(document)
    document["cluster"] = 5
    assert not validator.is_valid(document)


def test_schemas_in_every_form() -> None:
    """The same schema; forms of rows are refused."""
    whole: Any = json.loads(run("schema", "lag", "report").stdout)
    assert json.loads(run("schema", "lag.report", "-o", "json").stdout) == whole
    assert json.loads(run("schema", "kgroups.lag.report/1", "-o", "jsonl").stdout) == whole
    assert yaml.safe_load(run("schema", "lag report", "-o", "yaml").stdout) == whole
    title = run("schema", "lag", "report", "-o", "json", "--query", "title")
    assert title.document == whole["title"]
    assert run("schema", "list", "-o", "csv").exit_code == 2


def test_documents_are_listed() -> None:
    """Every one that is shipped."""
    listed = {item["document"] for item in run("schema", "-o", "json").document["items"]}
    assert listed == set(schemas()) - {"common"}
