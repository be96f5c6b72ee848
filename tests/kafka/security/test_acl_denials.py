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
TO = ("--to", "latest", "--yes")
RESET = ("reset-offsets", "--no-undo", *TO)
FORGET = ("delete-offsets", "--no-undo", "--yes")
COPY = ("copy-offsets", "--no-undo", "--yes")
BACK = ("reset-offsets", "--no-undo", "--yes", "--to", "committed@0s")
MATCH = (*COPY, "--to", "denied-new", "--match", "records", "--to-bootstrap-server", "{bootstrap}")
ERASE = ("delete-records", "--yes")
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
NO_GROUP = "it names no group"
LEFT_OUT = "brokers leave hidden groups out of what they list, and commits for hidden topics"

DENIED: Mapping[tuple[str, ...], Mapping[str, Met]] = {
    ("list",): {
        "describe group": LEFT_OUT,
        "read group": Works(("list", GROUP["read"])),
        "delete group": READS,
        "describe topic": (Refused(("list", "--topic", T), T),),
        "read topic": Works(("list", "--topic", TOPIC["read"])),
        "delete topic": READS,
    },
    ("describe",): {
        "describe group": (
            Refused(("describe", G), G),
            Refused(("describe", G, FREE_GROUP, "--members"), G),
            Refused(("describe", G, "--state"), G),
            Refused(("describe", G, "--at", "0s"), G),
            Refused(("describe", "--all-groups"), G, named=False),
        ),
        "read group": Works(("describe", R)),
        "delete group": READS,
        "describe topic": (Refused(("describe", "--topic", T), T),),
        "read topic": Works(("describe", "--topic", TOPIC["read"])),
        "delete topic": READS,
    },
    ("history",): {
        "describe group": (Refused(("history", G), G),),
        "read group": "it reads `__consumer_offsets`",
        "delete group": READS,
        "describe topic": NO_TOPIC,
        "read topic": NO_TOPIC,
        "delete topic": NO_TOPIC,
    },
    ("config",): {
        "describe group": (Refused(("config", G), G),),
        "read group": "it asks for DESCRIBE_CONFIGS, to write for ALTER_CONFIGS",
        "delete group": "it deletes no group",
        "describe topic": NO_TOPIC,
        "read topic": NO_TOPIC,
        "delete topic": NO_TOPIC,
    },
    ("peek",): {
        "describe group": (Refused(("peek", G), G),),
        "read group": Works(("peek", R)),
        "delete group": READS,
        "describe topic": "brokers leave out commits for hidden topics",
        "read topic": (Refused(("peek", READER), TOPIC["read"]),),
        "delete topic": READS,
    },
    ("doctor",): {
        "describe group": (Refused(("doctor", G), G),),
        "read group": Works(("doctor", R)),
        "delete group": READS,
        "describe topic": LEFT_OUT,
        "read topic": "it reads `__consumer_offsets`, and says so where it may not",
        "delete topic": READS,
    },
    ("check",): {
        "describe group": (Refused(("check", G, "--fail-on", "lag < 0"), G),),
        "read group": Works(("check", R, "--fail-on", "lag < 0")),
        "delete group": READS,
        "describe topic": LEFT_OUT,
        "read topic": READS,
        "delete topic": READS,
    },
    ("wait",): {
        "describe group": (Refused(("wait", G, "--until", "member_count >= 0"), G),),
        "read group": Works(("wait", R, "--until", "member_count >= 0")),
        "delete group": READS,
        "describe topic": LEFT_OUT,
        "read topic": READS,
        "delete topic": READS,
    },
    ("coordinator",): {
        "describe group": (Refused(("coordinator", G), G),),
        "read group": Works(("coordinator", R)),
        "delete group": READS,
        "describe topic": NO_TOPIC,
        "read topic": NO_TOPIC,
        "delete topic": NO_TOPIC,
    },
    ("plan",): {
        "describe group": (Refused(("plan", G), G),),
        "read group": Works(("plan", LIVE)),
        "delete group": READS,
        "describe topic": (
            Refused(("plan", LIVE, "--subscribe", T), T),
            Refused(("plan", LIVE, "--set-partitions", f"{T}=2"), T),
        ),
        "read topic": Works(("plan", LIVE, "--subscribe", TOPIC["read"])),
        "delete topic": READS,
    },
    ("simulate",): {
        "describe group": (Refused(("simulate", "--from-group", G), G),),
        "read group": Works(("simulate", "--from-group", LIVE, "--until", "10s")),
        "delete group": READS,
        "describe topic": LEFT_OUT,
        "read topic": READS,
        "delete topic": READS,
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
            Refused((*RESET, READER, "--topic", TOPIC["read"]), TOPIC["read"]),
            Refused(
                (*RESET[:2], "--to", "next", READER, "--topic", TOPIC["read"], "--dry-run"),
                TOPIC["read"],
            ),
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
            Refused(
                (*COPY, "--from", READER, "--to", "denied-new", "--topic", TOPIC["read"]),
                TOPIC["read"],
            ),
            Refused((*MATCH, "--from", READER, "--topic", TOPIC["read"]), TOPIC["read"]),
        ),
        "delete topic": "it deletes nothing",
    },
    ("delete-offsets",): {
        "describe group": (Refused((*FORGET, G, "--topic", FREE_TOPIC), G),),
        "read group": "DELETE on the group is enough",
        "delete group": (Refused((*FORGET, D, "--topic", FREE_TOPIC), D),),
        "describe topic": (Refused((*FORGET, READER, "--topic", T), T),),
        "read topic": (Refused((*FORGET, READER, "--topic", TOPIC["read"]), TOPIC["read"]),),
        "delete topic": "READ on the topic is enough",
    },
    ("delete",): {
        "describe group": (
            Refused(("delete", G, "--yes"), G),
            Refused(("delete", G, FREE_GROUP, "--dry-run"), G),
        ),
        "read group": Works(("delete", R, "--dry-run")),
        "delete group": (Refused(("delete", D, "--yes"), D),),
        "describe topic": NO_TOPIC,
        "read topic": NO_TOPIC,
        "delete topic": NO_TOPIC,
    },
    ("delete-records",): {
        "describe group": (Refused((*ERASE, FREE_TOPIC, "--before", f"group:{G}"), G),),
        "read group": Works((*ERASE, FREE_TOPIC, "--before", f"group:{R}", "--dry-run")),
        "delete group": "it deletes no group",
        "describe topic": (Refused((*ERASE, T, "--before", "latest"), T),),
        "read topic": Works((*ERASE, TOPIC["read"], "--before", "2", "--dry-run")),
        "delete topic": (
            Refused((*ERASE, TOPIC["delete"], "--before", "latest"), TOPIC["delete"]),
        ),
    },
    ("remove-members",): {
        "describe group": (Refused(("remove-members", G, "--all", "--yes"), G),),
        "read group": (Refused(("remove-members", LIVE, "--all", "--yes"), LIVE),),
        "delete group": "it deletes no group",
        "describe topic": NO_TOPIC,
        "read topic": NO_TOPIC,
        "delete topic": NO_TOPIC,
    },
    ("top",): {
        "describe group": LEFT_OUT,
        "read group": Works(("top", GROUP["read"], "--once", "--every", "100ms")),
        "delete group": READS,
        "describe topic": LEFT_OUT,
        "read topic": READS,
        "delete topic": READS,
    },
    ("transactions", "list"): {
        "describe group": (Refused(("transactions", G), G),),
        "read group": READS,
        "delete group": READS,
        "describe topic": (Refused(("transactions", "--topic", T), T),),
        "read topic": (Refused(("transactions", "--topic", TOPIC["read"]), TOPIC["read"]),),
        "delete topic": READS,
    },
    ("transactions", "abort"): {
        "describe group": (Refused(("transactions", "abort", G, "--yes"), G),),
        "read group": "it needs no more of a group than to see it",
        "delete group": "it deletes no group",
        "describe topic": (Refused(("transactions", "abort", "--topic", T, "--yes"), T),),
        "read topic": (
            Refused(("transactions", "abort", "--topic", TOPIC["read"], "--yes"), TOPIC["read"]),
        ),
        "delete topic": "it deletes no records",
    },
    ("apply",): {
        "describe group": (Refused(APPLY, G, plan=("delete", G)),),
        "read group": (Refused(APPLY, R, plan=("reset-offsets", R, "--all-topics", *TO[:2])),),
        "delete group": (Refused(APPLY, D, plan=("delete", D)),),
        "describe topic": (
            Refused(APPLY, T, plan=("reset-offsets", READER, "--topic", T, *TO[:2])),
        ),
        "read topic": (
            Refused(
                APPLY,
                TOPIC["read"],
                plan=("reset-offsets", READER, "--topic", TOPIC["read"], *TO[:2]),
            ),
        ),
        "delete topic": (
            Refused(
                APPLY,
                TOPIC["delete"],
                plan=("delete-records", TOPIC["delete"], "--before", "latest"),
            ),
        ),
    },
    ("ping",): dict.fromkeys(
        (f"{right} {what}" for right in GROUP for what in ("group", "topic")), ONLY_TOLD
    ),
    ("snapshot", "save"): {
        "describe group": (Refused(("snapshot", "save", "{folder}/s.json"), G, named=False),),
        "read group": READS,
        "delete group": READS,
        "describe topic": LEFT_OUT,
        "read topic": READS,
        "delete topic": READS,
    },
    ("lag", "collect"): {
        "describe group": (Refused(("lag", "collect", "{folder}/captures"), G, named=False),),
        "read group": READS,
        "delete group": READS,
        "describe topic": LEFT_OUT,
        "read topic": READS,
        "delete topic": READS,
    },
    ("lag", "report"): {
        "describe group": (Refused(("lag", "report"), G, named=False),),
        "read group": READS,
        "delete group": READS,
        "describe topic": LEFT_OUT,
        "read topic": (Refused(("lag", "report", "--record-times"), TOPIC["read"], named=False),),
        "delete topic": READS,
    },
    ("lag", "history"): {
        "describe group": "the commits that it reads are in a topic, which it may not read first",
        "read group": READS,
        "delete group": READS,
        "describe topic": LEFT_OUT,
        "read topic": (Refused(("lag", "history"), "__consumer_offsets", named=False),),
        "delete topic": READS,
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
RIGHTS = frozenset(f"{right} {what}" for right in GROUP for what in ("group", "topic"))

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
