"""Kafka's scenarios of live consumers, for both protocols: alone, in pairs, and after they left."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import pytest
from confluent_kafka.admin._group import MemberDescription

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.snapshot import Group
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.live_members import LiveGroup, MemberSpec, Protocol
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics, produce
from tests.support.official.running import run_ours

pytestmark = pytest.mark.kafka

ONE, TWO, SINGLE, DOUBLE = "live-one", "live-two", "live-single", "live-double"
PROTOCOLS: tuple[Protocol, ...] = ("classic", "consumer")
ASSIGNOR = {"classic": "range", "consumer": "uniform"}
VIEWS = (
    "",
    "--offsets",
    "--offsets --verbose",
    "--members",
    "--members --verbose",
    "--state",
    "--state --verbose",
)

Groups = Mapping[str, LiveGroup]


@pytest.fixture(scope="module")
def with_topics(full: KafkaCluster) -> str:
    """The cluster with topics of these tests; one record is in one partition."""
    create_topics(full.bootstrap, {ONE: 2, TWO: 1, SINGLE: 1, DOUBLE: 2})
    produce(full.bootstrap, {(ONE, 0): 1, (SINGLE, 0): 1})
    return full.bootstrap


@pytest.fixture(scope="module")
def groups(with_topics: str) -> Iterator[Groups]:
    """Settled groups of both protocols, by `PROTOCOL-what`; the members of `…-left` have left."""
    kinds: dict[str, tuple[list[MemberSpec], int]] = {
        "alone": ([MemberSpec("only", (ONE, TWO))], 3),
        "idle": ([MemberSpec("first", (SINGLE,)), MemberSpec("second", (SINGLE,))], 1),
        "pair": ([MemberSpec("first", (DOUBLE,)), MemberSpec("second", (DOUBLE,))], 2),
        "left": ([MemberSpec("only", (SINGLE,))], 1),
    }
    with ExitStack() as stack:
        found = {
            f"{protocol}-{kind}": stack.enter_context(
                LiveGroup(with_topics, f"conf-{protocol}-{kind}", members, protocol=protocol)
            )
            for protocol in PROTOCOLS
            for kind, (members, _) in kinds.items()
        }
        for name, group in found.items():
            group.wait_stable(kinds[name.partition("-")[2]][1])
        for protocol in PROTOCOLS:
            found[f"{protocol}-alone"].members[0].commit({(ONE, 0): 1})
            leaving = found[f"{protocol}-left"]
            leaving.members[0].commit({(SINGLE, 0): 1})
            leaving.remove(leaving.members[0])
        for protocol in PROTOCOLS:
            name = f"conf-{protocol}-left"
            wait_until(empty(with_topics, name), f"{name} is empty")
        yield found
    with ClusterAdmin(ClientSettings(with_topics)) as admin:
        outcomes = admin.delete_groups([group.group for group in found.values()])
    assert {outcome.result for outcome in outcomes} == {"done"}


def empty(bootstrap: str, name: str) -> Callable[[], bool]:
    """Asks whether a group has no members any more."""
    return lambda: as_group(bootstrap, name).state == "Empty"


def as_group(bootstrap: str, name: str) -> Group:
    """The group as the adapter sees it."""
    with ClusterAdmin(ClientSettings(bootstrap)) as admin:
        (group,) = admin.snapshot([name]).groups
    return group


def rows(bootstrap: str, group: LiveGroup, view: str, *, stderr: str = "") -> list[list[str]]:
    """The cells of one view, without its header; whatever else is said must be expected."""
    words = ["--bootstrap-server", bootstrap, "--describe", "--group", group.group, *view.split()]
    told = run_ours(words)
    assert (told.status, told.stderr) == (0, stderr)
    lines = [line.split() for line in told.stdout.splitlines() if line]
    return [line for line in lines if line[0] != "GROUP"]


def member_of(group: LiveGroup, client_id: str) -> MemberDescription:
    """A member as librdkafka describes it."""
    return group.described()[client_id]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_offsets_row(with_topics: str, groups: Groups, protocol: str) -> None:
    """Every cell of every row of a live group, with and without `--verbose`."""
    group = groups[f"{protocol}-alone"]
    member = member_of(group, "only")
    # kafka prints the slash that brokers put before an address
    owner = [member.member_id, member.host, "only"]
    wanted = [
        [group.group, ONE, "0", "1", "1", "0", *owner],
        [group.group, ONE, "1", "-", "0", "-", *owner],
        [group.group, TWO, "0", "-", "0", "-", *owner],
    ]
    assert rows(with_topics, group, "") == rows(with_topics, group, "--offsets") == wanted
    verbose = [[*row[:3], "-", *row[3:]] for row in wanted]
    assert rows(with_topics, group, "--offsets --verbose") == verbose


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_members_row(with_topics: str, groups: Groups, protocol: str) -> None:
    """Two topics and three partitions; epochs for the consumer protocol only."""
    group = groups[f"{protocol}-alone"]
    member = member_of(group, "only")
    row = [group.group, member.member_id, member.host, "only", "3"]
    assert rows(with_topics, group, "--members") == [row]
    owned = f"{ONE}:0,1;{TWO}:0"
    (verbose,) = rows(with_topics, group, "--members --verbose")
    assert verbose[:5] == row
    if protocol == "classic":
        assert verbose[5:] == ["-", owned, "-", "-"]
    else:
        epoch = str(as_group(with_topics, group.group).group_epoch)
        assert verbose[5:] == [epoch, owned, epoch, owned]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_state_row(with_topics: str, groups: Groups, protocol: str) -> None:
    """Coordinator with address and id, assignor, state, epochs, number of members."""
    group = groups[f"{protocol}-alone"]
    row = [group.group, with_topics, "(1)", ASSIGNOR[protocol], "Stable"]
    assert rows(with_topics, group, "--state") == [[*row, "1"]]
    epochs = ["-", "-"]
    if protocol == "consumer":
        known = as_group(with_topics, group.group)
        epochs = [str(known.group_epoch), str(known.target_epoch)]
        assert epochs[0] == epochs[1]
    assert rows(with_topics, group, "--state --verbose") == [[*row, *epochs, "1"]]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_after_the_consumer_stopped(with_topics: str, groups: Groups, protocol: str) -> None:
    """Every view says so on stderr; the commit stays, without owner."""
    group = groups[f"{protocol}-left"]
    said = f"\nConsumer group '{group.group}' has no active members.\n"
    found = {view: rows(with_topics, group, view, stderr=said) for view in VIEWS}
    assert found[""] == found["--offsets"]
    assert found[""] == [[group.group, SINGLE, "0", "1", "1", "0", "-", "-", "-"]]
    assert [row[:5] for row in found["--offsets --verbose"]] == [
        [group.group, SINGLE, "0", "-", "1"]
    ]
    assert found["--members"] == found["--members --verbose"] == []
    (state,) = found["--state"]
    (verbose,) = found["--state --verbose"]
    assert (state[4:], verbose[4], verbose[-1]) == (["Empty", "0"], "Empty", "0")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_after_the_consumer_stopped_as_objects(
    with_topics: str, groups: Groups, protocol: str
) -> None:
    """The adapter gives the commit, no members, and the state Empty."""
    group = as_group(with_topics, groups[f"{protocol}-left"].group)
    assert (group.state, group.members) == ("Empty", ())
    offsets = {(t, n): c.offset for t, row in (group.offsets or {}).items() for n, c in row.items()}
    assert offsets == {(SINGLE, 0): 1}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_two_consumers_on_one_partition(with_topics: str, groups: Groups, protocol: str) -> None:
    """One row of offsets; two members, of which one owns nothing; in every view."""
    group = groups[f"{protocol}-idle"]
    for view in ("", "--offsets", "--offsets --verbose"):
        (row,) = rows(with_topics, group, view)
        assert row[:3] == [group.group, SINGLE, "0"]
        assert row[-1] in ("first", "second")
    for view in ("--members", "--members --verbose"):
        found = rows(with_topics, group, view)
        assert sorted(row[3] for row in found) == ["first", "second"]
        assert sorted(row[4] for row in found) == ["0", "1"]
    for view in ("--state", "--state --verbose"):
        (row,) = rows(with_topics, group, view)
        assert (row[4], row[-1]) == ("Stable", "2")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_two_consumers_on_two_partitions(with_topics: str, groups: Groups, protocol: str) -> None:
    """A row of offsets for each; each member owns one partition; in every view."""
    group = groups[f"{protocol}-pair"]
    for view in ("", "--offsets", "--offsets --verbose"):
        found = rows(with_topics, group, view)
        assert sorted(row[2] for row in found) == ["0", "1"]
        assert sorted(row[-1] for row in found) == ["first", "second"]
    for view in ("--members", "--members --verbose"):
        assert [row[4] for row in rows(with_topics, group, view)] == ["1", "1"]
    for view in ("--state", "--state --verbose"):
        (row,) = rows(with_topics, group, view)
        assert (row[4], row[-1]) == ("Stable", "2")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("kind", "owned"), [("idle", [0, 1]), ("pair", [1, 1]), ("alone", [3])])
def test_consumers_as_objects(
    with_topics: str, groups: Groups, protocol: str, kind: str, owned: list[int]
) -> None:
    """The adapter gives the same members, partitions and state."""
    group = as_group(with_topics, groups[f"{protocol}-{kind}"].group)
    counts = [
        sum(len(numbers) for numbers in (member.assignment or {}).values())
        for member in group.members or ()
    ]
    assert (group.state, sorted(counts)) == ("Stable", owned)


def test_unknown_group_as_objects(with_topics: str) -> None:
    """No group, and one error that names it, whatever is asked for."""
    with ClusterAdmin(ClientSettings(with_topics)) as admin:
        for members, offsets in ((True, True), (True, False), (False, True)):
            told = admin.snapshot(["missing.group"], members=members, offsets=offsets)
            assert told.groups == ()
            assert [(error.target, error.code) for error in told.errors] == [
                ("missing.group", "GROUP_ID_NOT_FOUND")
            ]
        outcomes = admin.delete_groups(["missing.group"])
    assert [(each.target, each.result) for each in outcomes] == [("missing.group", "failed")]
    assert outcomes[0].error is not None
    assert outcomes[0].error.code == "GROUP_ID_NOT_FOUND"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_live_group_is_not_deleted(with_topics: str, groups: Groups, protocol: str) -> None:
    """The adapter says refused, and the group is there afterwards."""
    name = groups[f"{protocol}-alone"].group
    with ClusterAdmin(ClientSettings(with_topics)) as admin:
        (outcome,) = admin.delete_groups([name])
    assert outcome.result == "refused"
    assert outcome.error is not None
    assert outcome.error.code == "NON_EMPTY_GROUP"
    assert as_group(with_topics, name).state == "Stable"
