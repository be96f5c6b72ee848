"""Groups by glob, by regular expression and by topic, in every command that takes groups."""

from typing import Any

import pytest

from tests.support.cli.runner import Outcome, run
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce

pytestmark = pytest.mark.kafka

ONE, TWO, UNREAD = "choose-one", "choose-two", "choose-unread"
NAMES = [f"choose-{letter}-{number}" for letter in "ab" for number in (1, 2, 30)]


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """Six groups that read one topic, the `b` ones another one too, and one with an odd name."""
    create_topics(cluster_address, {ONE: 2, TWO: 1, UNREAD: 1})
    produce(cluster_address, {(ONE, 0): 9, (ONE, 1): 9, (TWO, 0): 9})
    commit_offsets(cluster_address, {name: {(ONE, 0): 4, (ONE, 1): 1} for name in NAMES})
    commit_offsets(cluster_address, {name: {(TWO, 0): 2} for name in NAMES if "-b-" in name})
    commit_offsets(cluster_address, {"choose[x]*": {(ONE, 0): 1}})
    return cluster_address


def ask(address: str, *args: str) -> Outcome:
    """The end of a command, as JSON."""
    return run("-b", address, *args, "-o", "json")


def names(outcome: Outcome) -> list[str]:
    """The groups of the items, in their order, each once."""
    return list(dict.fromkeys(item["group"] for item in outcome.document["items"]))


CHOICES: dict[str, tuple[list[str], list[str]]] = {
    "a glob": (["choose-a-*"], NAMES[:3]),
    "one sign": (["choose-?-1"], ["choose-a-1", "choose-b-1"]),
    "a class": (["choose-[bc]-30"], ["choose-b-30"]),
    "a pattern": (["--regex", r"choose-.-\d"], [n for n in NAMES if not n.endswith("30")]),
    "whole names only": (["--regex", "choose-a"], []),
    "all of them": (
        ["choose-b-1", "choose-a-?", "--regex", "choose-[ab]-30"],
        ["choose-a-1", "choose-a-2", "choose-a-30", "choose-b-1", "choose-b-30"],
    ),
    "a name that looks like a glob": (["choose[x]*"], ["choose[x]*"]),
}


@pytest.mark.parametrize("case", CHOICES)
def test_every_command_finds_the_same_groups(address: str, case: str) -> None:
    """describe, delete, delete-offsets and reset-offsets; a text that fits nothing is an error."""
    args, wanted = CHOICES[case]
    code = 0 if wanted else 5
    described = ask(address, "describe", *args)
    assert (sorted(names(described)), described.exit_code) == (sorted(wanted), code)
    for line in (
        ("delete", *args),
        ("delete-offsets", *args, "--all-topics"),
        ("reset-offsets", *args, "--to", "earliest", "--all-topics"),
    ):
        outcome = ask(address, *line, "--dry-run")
        assert (sorted(names(outcome)), outcome.exit_code) == (sorted(wanted), code), line
    assert "no group matches" in described.stderr or wanted


def test_a_pattern_that_fits_nothing_keeps_the_others(address: str) -> None:
    """Nothing is written, unless --keep-going asks for the rest."""
    line = ("reset-offsets", "choose-a-1", "choose-zz-*", "--to", "+1", "--all-topics")
    outcome = ask(address, *line, "--no-undo", "--yes")
    assert outcome.exit_code == 5
    assert fetch_offsets(address, "choose-a-1") == {(ONE, 0): 4, (ONE, 1): 1}
    assert ask(address, "delete", "choose-a-1", "choose-zz-*", "--yes").exit_code == 5
    assert fetch_offsets(address, "choose-a-1") == {(ONE, 0): 4, (ONE, 1): 1}
    assert ask(address, *line, "--no-undo", "--yes", "--keep-going").exit_code == 5
    assert fetch_offsets(address, "choose-a-1") == {(ONE, 0): 5, (ONE, 1): 2}
    commit_offsets(address, {"choose-a-1": {(ONE, 0): 4, (ONE, 1): 1}})


def test_delete_by_pattern(address: str) -> None:
    """What fits is deleted, what does not stays."""
    doomed = ["choose-doomed-1", "choose-doomed-2", "choose-doomed-x"]
    commit_offsets(address, {name: {(ONE, 0): 1} for name in doomed})
    outcome = ask(address, "delete", "--regex", "choose-doomed-[0-9]", "--yes")
    assert outcome.exit_code == 0
    assert names(ask(address, "list", "choose-doomed")) == doomed[2:]
    assert ask(address, "delete", "choose-doomed*", "--yes").exit_code == 0


def test_broken_pattern(address: str) -> None:
    """A usage error with the reason, before anything is asked."""
    for command in ("list", "describe", "delete"):
        outcome = ask(address, command, "--regex", "a(b")
        assert outcome.exit_code == 2
        assert "missing closing )" in outcome.stderr


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (["--regex", "choose-[ab]-1"], ["choose-a-1", "choose-b-1"]),
        (["choose-?-*", "--sort", "state", "--top", "2"], NAMES[:2]),
        (["choose-?-*", "--sort", "coordinator"], sorted(NAMES)),
        (["choose-?-*", "--sort", "type", "--top", "1"], NAMES[:1]),
    ],
)
def test_list(address: str, args: list[str], wanted: list[str]) -> None:
    """Patterns, order and how many."""
    assert names(ask(address, "list", *args)) == wanted


def offsets(outcome: Outcome) -> dict[str, set[tuple[str, int]]]:
    """Partitions of each group."""
    items: list[dict[str, Any]] = outcome.document["items"]
    return {
        item["group"]: {(row["topic"], row["partition"]) for row in item["offsets"]}
        for item in items
    }


def test_from_a_topic_to_its_groups(address: str) -> None:
    """Only groups that read it, and only its partitions; members too, if they read it."""
    found = offsets(ask(address, "describe", "--topic", TWO))
    assert found == {name: {(TWO, 0)} for name in NAMES if "-b-" in name}
    found = offsets(ask(address, "describe", "choose-?-1", "--topic", ONE))
    assert found == {name: {(ONE, 0), (ONE, 1)} for name in ("choose-a-1", "choose-b-1")}
    live = LiveGroup(
        address,
        "choose-live",
        [MemberSpec("choose-app", (ONE, TWO)), MemberSpec("choose-other", (ONE,))],
    )
    with live:
        live.wait_stable(3)
        document = ask(address, "describe", "--topic", TWO, "--members", "--offsets").document
        item = next(item for item in document["items"] if item["group"] == "choose-live")
        assert [member["client_id"] for member in item["members"]] == ["choose-app"]
        assert item["members"][0]["assignment"] == {TWO: [0]}
        assert {row["topic"] for row in item["offsets"]} == {TWO}


def test_topics_that_nobody_reads(address: str) -> None:
    """One that exists has no groups; one that does not is not found."""
    outcome = run("-b", address, "describe", "--topic", UNREAD)
    assert (outcome.exit_code, outcome.stdout) == (0, "")
    assert f"no group reads `{UNREAD}`" in outcome.stderr
    assert ask(address, "describe", "--topic", "choose-nope").exit_code == 5
