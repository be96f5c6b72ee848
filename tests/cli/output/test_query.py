"""`--query`: JMESPath over documents, in the forms that hold one; refused with the position."""

import json
import re

import pytest
import yaml

from kgroups.cli.output.printer import Printer
from kgroups.cli.output.query import parse_query
from kgroups.cli.params import GlobalOptions
from kgroups.core.errors import UsageError
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.process import start
from tests.support.cli.runner import run

pytestmark = pytest.mark.usefixtures("files")

SHOP = ("--from", "shop.json")
NAMES = ["audit réports, nightly", "billing", "shipping"]


def test_a_list_is_one_document() -> None:
    """What the expression gives for the envelope, an element a line."""
    outcome = run("list", *SHOP, "-o", "json", "--query", "items[].group")
    assert outcome.stdout.count("\n") == 5
    assert (outcome.exit_code, outcome.document) == (0, NAMES)


def test_json_lines() -> None:
    """A list has a line for each element, an empty one none, anything else is a line."""
    lines = run("list", *SHOP, "-o", "jsonl", "--query", "items[].group").stdout.splitlines()
    assert [json.loads(line) for line in lines] == NAMES
    assert run("list", *SHOP, "-o", "jsonl", "--query", "items[?state=='Dead']").stdout == ""
    assert run("list", *SHOP, "-o", "jsonl", "--query", "summary.groups").stdout == "3\n"


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("summary.groups", 3),
        ("items[?group=='billing'] | [0].state", "Stable"),
        ("nothing.there", None),
        ("items[].{name: group, at: coordinator.id}[0]", None),
    ],
)
def test_yaml(query: str, value: object) -> None:
    """Also as YAML."""
    outcome = run("list", *SHOP, "-o", "yaml", "--query", query)
    as_json = run("list", *SHOP, "-o", "json", "--query", query).document
    assert yaml.safe_load(outcome.stdout) == as_json
    assert value is None or as_json == value
    assert "..." not in outcome.stdout


def test_errors_are_part_of_the_document() -> None:
    """They are told on stderr too, and the exit code is theirs."""
    words = ("describe", "nobody", "billing", *SHOP, "-o", "json")
    outcome = run(*words, "--query", "errors[].code")
    assert (outcome.exit_code, outcome.document) == (5, ["GROUP_ID_NOT_FOUND"])
    assert "`nobody`" in outcome.stderr


def test_all_that_a_table_holds_otherwise_is_seen() -> None:
    """Items that are tuples on their way to a table are what the document says they are."""
    words = ("describe", "--all-groups", *SHOP, "-o", "json")
    whole = run(*words).document
    found = run(*words, "--query", "items[].offsets[].[topic, partition, lag]").document
    rows = [row for item in whole["items"] for row in item["offsets"] or ()]
    assert found == [[row["topic"], row["partition"], row["lag"]] for row in rows]


WRONG = [
    ("items[", "the expression ends too early (at character 7)"),
    ("items[].", "the expression ends too early (at character 9)"),
    ("", "the expression is empty"),
    ("items[?a=`1`]", "unknown token '=' (at character 9)"),
    ("foo bar", "unexpected `bar` (at character 5)"),
    ("items[0].'a", "unclosed ' delimiter (at character 10)"),
    ("items | lenght(@)", "unknown function `lenght`; did you mean `length`? (at character 9)"),
    ("sort_by(items)", "`sort_by` takes 2 arguments, not 1 (at character 1)"),
    ("merge()", "`merge` takes at least 1 argument, not 0 (at character 1)"),
    ("(" * 5000 + "a" + ")" * 5000, "the expression is nested too deeply"),
]


@pytest.mark.parametrize(("query", "says"), WRONG, ids=range(len(WRONG)))
def test_wrong_expressions(query: str, says: str) -> None:
    """One sentence with the position, before a cluster is asked."""
    outcome = run("list", "-b", "127.0.0.1:1", "-o", "json", "--query", query)
    assert (outcome.exit_code, outcome.document["errors"][0]["code"]) == (2, "USAGE")
    first, blank, hint, *rest = outcome.stderr.splitlines()
    assert first.endswith(says)
    assert (blank, hint[:6], rest) == ("", "hint: ", [])


@pytest.mark.parametrize("query", ["length(summary.groups)", "items[].max(group)", "abs('a')"])
def test_expressions_that_the_data_do_not_fit(query: str) -> None:
    """The command has done its work: 74, and a sentence."""
    outcome = run("list", *SHOP, "-o", "json", "--query", query)
    assert (outcome.exit_code, outcome.document["errors"][0]["code"]) == (74, "UNPRINTED")
    assert re.match(r"error: `--query .*`: `\w+` cannot take ", outcome.stderr)


@pytest.mark.parametrize("query", ["a[::0]", "to_number('1_0')", "`{bare`"])
def test_odd_expressions_end_in_words(query: str) -> None:
    """Whatever the library makes of them, it is an answer or a sentence."""
    assert run("list", *SHOP, "-o", "json", "--query", query).exit_code in (0, 2, 74)


def test_failures_of_items_go_before() -> None:
    """Where items failed, the exit code is theirs, as with a result that cannot be printed."""
    words = ("describe", "nobody", *SHOP, "-o", "json", "--query", "length(summary.groups)")
    outcome = run(*words)
    codes = [error["code"] for error in outcome.document["errors"]]
    assert (outcome.exit_code, codes) == (5, ["GROUP_ID_NOT_FOUND", "UNPRINTED"])
    assert "cannot take a number" in outcome.stderr
    assert "no such group" in outcome.stderr


@pytest.mark.parametrize("form", ["table", "csv", "plain"])
def test_only_documents_are_asked(form: str) -> None:
    """A table is none; refused before a cluster is asked."""
    outcome = run("list", "-b", "127.0.0.1:1", "-o", form, "--query", "items")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert f"the output is `{form}`" in outcome.stderr


def test_every_printer_checks_it() -> None:
    """No command can forget to."""
    with pytest.raises(UsageError, match="ends too early"):
        Printer(GlobalOptions(output="json", query="a["))
    assert parse_query("a.b").answer('{"a": {"b": 1}}') == 1


def test_names_with_half_a_surrogate() -> None:
    """A name that is no Unicode passes as it does without a query."""
    text = '{"a": "\\ud800"}'
    assert parse_query("a").answer(text) == "\ud800"


def test_a_watched_view_is_asked_each_time() -> None:
    """A refresh is an answer on one line."""
    with Sandbox(brokers=1, topics={"t": 1}) as cluster:
        line = ("list", "--watch", "3600", "-b", cluster.bootstrap_servers, "-o", "json")
        with start(*line, "--query", "summary.groups") as process:
            assert process.line() == "0\n"
            assert process.stdout is not None
            process.stdout.close()
            assert process.wait(timeout=60) == 0
