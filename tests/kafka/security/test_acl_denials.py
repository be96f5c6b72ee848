"""Every command under every denial that it can meet: exit 3, who refused what, nothing written.

The table must name each command of the program, and for each that asks a cluster each right: what
happens without it, or why it needs no such right. A new command fails here until it is in it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.cli.command_tree import command_paths
from tests.support.cli.process import finish
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.denied import (
    FREE_GROUP,
    FREE_TOPIC,
    GROUP,
    LIVE,
    READER,
    TOPIC,
    denied,
    state_of,
    write_properties,
)

pytestmark = pytest.mark.kafka

G, R, D, T = GROUP["describe"], GROUP["read"], GROUP["delete"], TOPIC["describe"]
T_READ, T_DELETE = TOPIC["read"], TOPIC["delete"]
TO = ("--to", "latest", "--yes")
RESET = ("reset-offsets", "--no-undo", *TO)
FORGET = ("delete-offsets", "--no-undo", "--yes")
COPY = ("copy-offsets", "--no-undo", "--yes")
BACK = ("reset-offsets", "--no-undo", "--yes", "--to", "committed@0s")
MATCH = (*COPY, "--to", "denied-new", "--match", "records", "--to-bootstrap-server", "{bootstrap}")
ERASE = ("delete-records", "--yes")
MOVE = ("reset-offsets", READER, *TO[:2], "--topic")
APPLY = ("apply", "{folder}/plan.json", "--no-undo", "--yes")
ONLY_TOLD = "it tells the rights that are missing; that is no failure"


@dataclass(frozen=True)
class Refused:
    """A command line that a broker refuses, and the name of what it is about.

    Args:
        named: whether the group is named on it; else only who sees all names is told of it.
        plan: the write whose plan somebody saved who may do everything; none for no plan.
    """

    line: tuple[str, ...]
    name: str
    named: bool = True
    plan: tuple[str, ...] = ()


@dataclass(frozen=True)
class Works:
    """A command line that takes no such right."""

    line: tuple[str, ...]


Met = tuple[Refused, ...] | Works | str
"""What a command meets without a right; a text says why it never asks for what takes it."""

READS = "it changes nothing"
NO_TOPIC = "it asks about no topic"
LEFT_OUT = "brokers leave hidden groups out of what they list, and commits for hidden topics"

RIGHTS = frozenset(f"{right} {what}" for right in GROUP for what in ("group", "topic"))

# Of commands that change nothing, of those that look at all groups, of those without topics.
READING = dict.fromkeys(("read group", "delete group", "read topic", "delete topic"), READS)
LISTING = {**READING, "describe topic": LEFT_OUT}
NO_TOPICS = dict.fromkeys(("describe topic", "read topic", "delete topic"), NO_TOPIC)

DENIED: Mapping[tuple[str, ...], Mapping[str, Met]] = {
    ("list",): {
        **READING,
        "describe group": LEFT_OUT,
        "read group": Works(("list", R)),
        "describe topic": (Refused(("list", "--topic", T), T),),
        "read topic": Works(("list", "--topic", T_READ)),
    },
    ("describe",): {
        **READING,
        "describe group": (
            Refused(("describe", G), G),
            Refused(("describe", G, FREE_GROUP, "--members"), G),
            Refused(("describe", G, "--state"), G),
            Refused(("describe", G, "--at", "0s"), G),
            Refused(("describe", "--all-groups"), G, named=False),
        ),
        "read group": Works(("describe", R)),
        "describe topic": (Refused(("describe", "--topic", T), T),),
        "read topic": Works(("describe", "--topic", T_READ)),
    },
    ("history",): {
        **NO_TOPICS,
        "describe group": (Refused(("history", G), G),),
        "read group": "it reads `__consumer_offsets`",
        "delete group": READS,
    },
    ("config",): {
        **NO_TOPICS,
        "describe group": (Refused(("config", G), G),),
        "read group": "it asks for DESCRIBE_CONFIGS, to write for ALTER_CONFIGS",
        "delete group": "it deletes no group",
    },
    ("peek",): {
        **READING,
        "describe group": (Refused(("peek", G), G),),
        "read group": Works(("peek", R)),
        "describe topic": "brokers leave out commits for hidden topics",
        "read topic": (Refused(("peek", READER), T_READ),),
    },
    ("doctor",): {
        **LISTING,
        "describe group": (Refused(("doctor", G), G),),
        "read group": Works(("doctor", R)),
        "read topic": "it reads `__consumer_offsets`, and says so where it may not",
    },
    ("check",): {
        **LISTING,
        "describe group": (Refused(("check", G, "--fail-on", "lag < 0"), G),),
        "read group": Works(("check", R, "--fail-on", "lag < 0")),
    },
    ("wait",): {
        **LISTING,
        "describe group": (Refused(("wait", G, "--until", "member_count >= 0"), G),),
        "read group": Works(("wait", R, "--until", "member_count >= 0")),
    },
    ("coordinator",): {
        **NO_TOPICS,
        "describe group": (Refused(("coordinator", G), G),),
        "read group": Works(("coordinator", R)),
        "delete group": READS,
    },
    ("plan",): {
        **READING,
        "describe group": (Refused(("plan", G), G),),
        "read group": Works(("plan", LIVE)),
        "describe topic": (
            Refused(("plan", LIVE, "--subscribe", T), T),
            Refused(("plan", LIVE, "--set-partitions", f"{T}=2"), T),
        ),
        "read topic": Works(("plan", LIVE, "--subscribe", T_READ)),
    },
    ("simulate",): {
        **LISTING,
        "describe group": (Refused(("simulate", "--from-group", G), G),),
        "read group": Works(("simulate", "--from-group", LIVE, "--until", "10s")),
    },
    ("reset-offsets",): {
        "describe group": (
            Refused((*RESET, G, "--topic", FREE_TOPIC), G),
            Refused((*RESET, G, FREE_GROUP, "--all-topics"), G),
            Refused((*BACK, G), G),
            Refused(("reset-offsets", FREE_GROUP, "--to", f"group:{G}", "--yes"), G),
        ),
        "read group": (Refused((*RESET, R, "--all-topics"), R), Refused((*BACK, R), R)),
        "delete group": Works((*RESET[:2], "--to", "earliest", "--dry-run", D, "--all-topics")),
        "describe topic": (
            Refused((*RESET, READER, "--topic", T), T),
            Refused((*BACK, READER, "--topic", T), T),
        ),
        "read topic": (
            Refused((*RESET, READER, "--topic", T_READ), T_READ),
            Refused((*RESET[:2], "--to", "next", READER, "--topic", T_READ, "--dry-run"), T_READ),
        ),
        "delete topic": "it deletes nothing",
    },
    ("copy-offsets",): {
        "describe group": (
            Refused((*COPY, "--from", G, "--to", FREE_GROUP), G),
            Refused((*COPY, "--from", READER, "--to", G), G),
            Refused((*MATCH, "--from", G), G),
        ),
        "read group": (Refused((*COPY, "--from", READER, "--to", R), R),),
        "delete group": "it deletes no group",
        "describe topic": (
            Refused((*COPY, "--from", READER, "--to", "denied-new", "--topic", T), T),
            Refused((*MATCH, "--from", READER, "--topic", T), T),
        ),
        "read topic": (
            Refused((*COPY, "--from", READER, "--to", "denied-new", "--topic", T_READ), T_READ),
            Refused((*MATCH, "--from", READER, "--topic", T_READ), T_READ),
        ),
        "delete topic": "it deletes nothing",
    },
    ("delete-offsets",): {
        "describe group": (Refused((*FORGET, G, "--topic", FREE_TOPIC), G),),
        "read group": "DELETE on the group is enough",
        "delete group": (Refused((*FORGET, D, "--topic", FREE_TOPIC), D),),
        "describe topic": (Refused((*FORGET, READER, "--topic", T), T),),
        "read topic": (Refused((*FORGET, READER, "--topic", T_READ), T_READ),),
        "delete topic": "READ on the topic is enough",
    },
    ("delete",): {
        **NO_TOPICS,
        "describe group": (
            Refused(("delete", G, "--yes"), G),
            Refused(("delete", G, FREE_GROUP, "--dry-run"), G),
        ),
        "read group": Works(("delete", R, "--dry-run")),
        "delete group": (Refused(("delete", D, "--yes"), D),),
    },
    ("delete-records",): {
        "describe group": (Refused((*ERASE, FREE_TOPIC, "--before", f"group:{G}"), G),),
        "read group": Works((*ERASE, FREE_TOPIC, "--before", f"group:{R}", "--dry-run")),
        "delete group": "it deletes no group",
        "describe topic": (Refused((*ERASE, T, "--before", "latest"), T),),
        "read topic": Works((*ERASE, T_READ, "--before", "2", "--dry-run")),
        "delete topic": (Refused((*ERASE, T_DELETE, "--before", "latest"), T_DELETE),),
    },
    ("remove-members",): {
        **NO_TOPICS,
        "describe group": (Refused(("remove-members", G, "--all", "--yes"), G),),
        "read group": (Refused(("remove-members", LIVE, "--all", "--yes"), LIVE),),
        "delete group": "it deletes no group",
    },
    ("top",): {
        **LISTING,
        "describe group": LEFT_OUT,
        "read group": Works(("top", R, "--once", "--every", "100ms")),
    },
    ("transactions", "list"): {
        **READING,
        "describe group": (Refused(("transactions", G), G),),
        "describe topic": (Refused(("transactions", "--topic", T), T),),
        "read topic": (Refused(("transactions", "--topic", T_READ), T_READ),),
    },
    ("transactions", "abort"): {
        "describe group": (Refused(("transactions", "abort", G, "--yes"), G),),
        "read group": "it needs no more of a group than to see it",
        "delete group": "it deletes no group",
        "describe topic": (Refused(("transactions", "abort", "--topic", T, "--yes"), T),),
        "read topic": (Refused(("transactions", "abort", "--topic", T_READ, "--yes"), T_READ),),
        "delete topic": "it deletes no records",
    },
    ("apply",): {
        "describe group": (Refused(APPLY, G, plan=("delete", G)),),
        "read group": (Refused(APPLY, R, plan=("reset-offsets", R, "--all-topics", *TO[:2])),),
        "delete group": (Refused(APPLY, D, plan=("delete", D)),),
        "describe topic": (Refused(APPLY, T, plan=(*MOVE, T)),),
        "read topic": (Refused(APPLY, T_READ, plan=(*MOVE, T_READ)),),
        "delete topic": (
            Refused(APPLY, T_DELETE, plan=("delete-records", T_DELETE, "--before", "latest")),
        ),
    },
    ("ping",): dict.fromkeys(RIGHTS, ONLY_TOLD),
    ("snapshot", "save"): {
        **LISTING,
        "describe group": (Refused(("snapshot", "save", "{folder}/s.json"), G, named=False),),
    },
    ("lag", "collect"): {
        **LISTING,
        "describe group": (Refused(("lag", "collect", "{folder}/captures"), G, named=False),),
    },
    ("lag", "report"): {
        **LISTING,
        "describe group": (Refused(("lag", "report"), G, named=False),),
        "read topic": (Refused(("lag", "report", "--record-times"), T_READ, named=False),),
    },
    ("lag", "history"): {
        **LISTING,
        "describe group": "the commits that it reads are in a topic, which it may not read first",
        "read topic": (Refused(("lag", "history"), "__consumer_offsets", named=False),),
    },
}
NO_CLUSTER: Mapping[tuple[str, ...], str] = {
    (): "the program",
    ("demo",): "it makes a cluster of its own",
    ("official",): "Kafka's own grammar, with exit codes of its own",
    ("completion",): "it prints a script",
    ("snapshot",): "a noun",
    ("snapshot", "show"): "it reads a file",
    ("lag",): "a noun",
    ("transactions",): "a noun",
    ("lag", "compact"): "it merges files",
    ("audit",): "it shows a file",
    ("schema",): "it prints a schema",
    ("explain",): "it explains a word",
    ("context",): "a noun",
    ("context", "list"): "it reads a file",
    ("context", "show"): "it reads a file",
    ("context", "use"): "it writes a file of the user's",
    ("context", "add"): "it writes a file of the user's; --pin asks for the cluster's id alone",
    ("context", "remove"): "it writes a file of the user's",
    ("context", "current"): "it reads a file",
    ("context", "import"): "it writes a file of the user's",
    ("sandbox",): "a noun",
    ("sandbox", "up"): "it makes a cluster of its own",
}

# Of these librdkafka's Python client has no call, or they start Spark.
WIRE_ONLY = frozenset(
    {"delete-offsets", "remove-members", "lag", "coordinator", "peek", "transactions"}
)


def _shown(line: tuple[str, ...]) -> str:
    return " ".join(line)


def _case(case: Refused) -> str:
    return _shown((*case.plan, *case.line))


EVERY_MET = [each for met in DENIED.values() for each in met.values()]
REFUSED = [case for cases in EVERY_MET if isinstance(cases, tuple) for case in cases]
WORKS = [each.line for each in EVERY_MET if isinstance(each, Works)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[KafkaCluster]:
    """The cluster with its denials."""
    with denied() as running:
        yield running


def test_every_command_and_every_right_is_here() -> None:
    """A command of the program is in one of the tables, with each right."""
    assert set(command_paths()) == set(DENIED) | set(NO_CLUSTER)
    assert not set(DENIED) & set(NO_CLUSTER)
    for path, met in DENIED.items():
        assert set(met) == RIGHTS, path


def check_refusal(
    cluster: KafkaCluster, folder: Path, case: Refused, user: str, *, librdkafka: bool = False
) -> None:
    """Exit 3, the name and no other reason on stderr, and nothing written."""
    way = write_properties(cluster, folder / "p", user, librdkafka=librdkafka)
    if case.plan:
        plan = folder / "plan.json"
        run(*case.plan, "--dry-run", "--plan", str(plan), "-b", cluster.bootstrap)
        assert plan.exists()
    line = [word.format(folder=folder, bootstrap=cluster.bootstrap) for word in case.line]
    before = state_of(cluster)
    if line[0] == "lag":
        code, _, stderr = finish(*line, *way, "--timeout", "20s")
    else:
        outcome = run(*line, *way, "--timeout", "20s")
        code, stderr = outcome.exit_code, outcome.stderr
    told = [text for text in stderr.splitlines() if text.startswith("error: ")]
    assert code == 3, stderr
    assert len(told) >= 1
    assert any(case.name in text for text in told), stderr
    assert all("not authorized" in text or "no right" in text for text in told), stderr
    assert "no such" not in stderr
    assert "Traceback" not in stderr
    assert state_of(cluster) == before


@pytest.mark.slow("each right of each command; the most telling ones: test_acls.py")
@pytest.mark.share(4)
@pytest.mark.parametrize("case", REFUSED, ids=_case)
def test_refused(cluster: KafkaCluster, tmp_path: Path, case: Refused) -> None:
    """By name, of whom may see the names of all groups."""
    check_refusal(cluster, tmp_path, case, "carol")


@pytest.mark.slow("each right of each command; the most telling ones: test_acls.py")
@pytest.mark.share(4)
@pytest.mark.parametrize("case", [case for case in REFUSED if case.named], ids=_case)
def test_refused_without_describe_on_the_cluster(
    cluster: KafkaCluster, tmp_path: Path, case: Refused
) -> None:
    """What brokers leave out of their listing is not said to be missing."""
    check_refusal(cluster, tmp_path, case, "dave")


@pytest.mark.slow("each right of each command; the most telling ones: test_acls.py")
@pytest.mark.share(4)
@pytest.mark.parametrize(
    "case",
    [case for case in REFUSED if case.line[0] not in WIRE_ONLY],
    ids=_case,
)
def test_refused_through_librdkafka(cluster: KafkaCluster, tmp_path: Path, case: Refused) -> None:
    """The same words where librdkafka asks."""
    check_refusal(cluster, tmp_path, case, "carol", librdkafka=True)


@pytest.mark.slow("each right of each command; the most telling ones: test_acls.py")
@pytest.mark.share(4)
@pytest.mark.parametrize("line", WORKS, ids=_shown)
def test_works_without_a_right_that_it_does_not_need(
    cluster: KafkaCluster, tmp_path: Path, line: tuple[str, ...]
) -> None:
    """Exit 0 and no error: the table names no right too many."""
    way = write_properties(cluster, tmp_path / "p", "dave", librdkafka=False)
    outcome = run(*line, *way, "--timeout", "20s")
    assert (outcome.exit_code, "error: " in outcome.stderr) == (0, False), outcome.stderr


@pytest.mark.slow("each right of each command; the most telling ones: test_acls.py")
def test_a_group_that_is_not_there_and_may_not_be_described(
    cluster: KafkaCluster, tmp_path: Path
) -> None:
    """A broker does not tell whether it is there: neither do we; with the right it is missing."""
    way = write_properties(cluster, tmp_path / "p", "dave", librdkafka=False)
    for command in (("describe",), ("delete", "--yes")):
        outcome = run(command[0], "denied-nowhere", *command[1:], *way)
        assert outcome.exit_code == 5
        assert "no such group" in outcome.stderr
