"""`plan` of somebody who may not read `__consumer_offsets`, which names the leader."""

from pathlib import Path

import pytest

from tests.support.cli.runner import run
from tests.support.fidelity.driven_group import DrivenGroup, MemberSpec
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.guarded import OLD, OPEN, WAYS, write_properties
from tests.support.kafka.waiting import wait_until

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("more of ACLs: tests/kafka/reads/test_acls.py"),
]


def test_asked_for_it_is_denied(guarded_kafka: KafkaCluster, tmp_path: Path) -> None:
    """Exit code 3, and the topic is named."""
    way = WAYS[0]
    config = write_properties(guarded_kafka, tmp_path / "c.properties", way)
    address = guarded_kafka.addresses(way[0])
    denied = run("-b", address, *config, "plan", OLD, "--leader-from-log")
    assert denied.exit_code == 3, denied
    assert "__consumer_offsets" in denied.stderr
    assert run("-b", address, *config, "plan", OLD).exit_code == 0


def test_unasked_it_is_a_note(guarded_kafka: KafkaCluster, tmp_path: Path) -> None:
    """Members of two libraries: the plan is made, and says what it does without."""
    way, name = WAYS[0], "mine-mixed"
    config = write_properties(guarded_kafka, tmp_path / "c.properties", way)
    command = ("-b", guarded_kafka.addresses(way[0]), *config, "plan", name)
    with (
        HostPool() as hosts,
        DrivenGroup(hosts, guarded_kafka.bootstrap, name, "classic", "range", {OPEN: 2}) as group,
    ):
        group.join([MemberSpec("a", "kafka-python", (OPEN,))])
        group.join([MemberSpec("b", "librdkafka", (OPEN,))])

        def planned() -> str | None:
            told = run(*command)
            whole = told.exit_code == 0 and " a " in told.stdout and " b " in told.stdout
            return told.stderr if whole else None

        told = wait_until(planned, "the group has both members", timeout_s=240)
        assert told is not None
        assert f"`{name}`: the leader is unknown: `__consumer_offsets` cannot be" in told
