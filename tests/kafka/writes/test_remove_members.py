"""`remove-members` on the real broker: classic, static and KIP-848 members, and refusals."""

import pytest

from kgroups.core.member_ids import short_ids
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.live_members import LiveGroup, MemberSpec, Protocol
from tests.support.kafka.protocols import PROTOCOLS
from tests.support.kafka.workload import commit_offsets, create_topics

pytestmark = pytest.mark.kafka

TOPIC = "remove-t"


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> str:
    """A topic to read, and a group without members."""
    create_topics(kafka.bootstrap, {TOPIC: 4})
    commit_offsets(kafka.bootstrap, {"remove-empty": {(TOPIC, 0): 0}})
    return kafka.bootstrap


def remove(address: str, *args: str) -> Outcome:
    """The end of a removal, as JSON."""
    return run("-b", address, "remove-members", *args, "-o", "json")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_member_that_is_gone(address: str, protocol: Protocol) -> None:
    """A static member that closed stays in the group until it is removed by its instance id."""
    name = f"remove-static-{protocol}"
    specs = [MemberSpec(f"remove-{n}", (TOPIC,), f"till-{n}") for n in range(2)]
    with LiveGroup(address, name, specs, protocol=protocol) as live:
        live.wait_stable(4)
        live.remove(live.members[0])
        dry = remove(address, name, "--instance", "till-0", "--dry-run").document["items"]
        assert [(row["instance_id"], row["result"]) for row in dry] == [("till-0", "planned")]
        outcome = remove(address, name, "--instance", "till-0", "--reason", "gone", "--yes")
        assert outcome.exit_code == 0
        (row,) = outcome.document["items"]
        assert (row["client_id"], row["host"], row["result"]) == ("remove-0", "/127.0.0.1", "done")
        live.wait_stable(4)  # the other one has all partitions


def test_by_member_id(address: str) -> None:
    """A member is named by its id; one name that is not there keeps the others in."""
    with LiveGroup(address, "remove-id", [MemberSpec("remove-a", (TOPIC,))]) as live:
        member = live.wait_stable(4).member_id(live.members[0])
        both = remove(address, "remove-id", "--member", member, "--member", "nobody", "--yes")
        assert (both.exit_code, both.document["items"]) == (5, [])
        assert live.member_id(live.members[0]) == member
        outcome = remove(address, "remove-id", "--all", "--yes")
        assert [row["member_id"] for row in outcome.document["items"]] == [member]
        assert outcome.exit_code == 0
        live.wait_stable(4)  # it is alive, so it joins again
        assert live.member_id(live.members[0]) != member


def test_by_the_start_of_its_id(address: str) -> None:
    """As a narrow table shows it; a beginning of several ids is a usage error that names them."""
    specs = [MemberSpec(f"remove-short-{n}", (TOPIC,)) for n in range(2)]
    with LiveGroup(address, "remove-short", specs) as live:
        live.wait_stable(4)
        ids = [live.member_id(member) for member in live.members]
        both = remove(address, "remove-short", "--member", "remove-short-", "--dry-run")
        assert (both.exit_code, both.document["items"]) == (2, [])
        assert all(each in both.stderr for each in ids)
        short = short_ids(ids)[ids[1]]
        assert short.endswith("…")
        outcome = remove(address, "remove-short", "--member", short, "--yes")
        assert [row["member_id"] for row in outcome.document["items"]] == [ids[1]]
        assert (outcome.exit_code, outcome.stderr) == (0, "")


def test_nobody_there(address: str) -> None:
    """A group without members is no failure; one that does not exist is."""
    assert remove(address, "remove-empty", "--all", "--yes").document["items"] == []
    assert remove(address, "remove-unknown", "--all", "--yes").exit_code == 5
