"""Commits that wait for the end of a transaction: who begins to read there has to wait, too."""

from collections.abc import Collection, Mapping

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.reads.committed_offsets import fetch_commits
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.snapshot import TopicPartition

PENDING = "UNSTABLE_OFFSET_COMMIT"
Found = dict[str, frozenset[TopicPartition] | str]


def pending_offsets(admin: ClusterAdmin, groups: Mapping[str, Collection[TopicPartition]]) -> Found:
    """Each group's partitions with a pending commit, or Kafka's error name.

    A member that is given one of them does not start before the transaction ends (OffsetFetch with
    `require_stable`, KIP-447). Brokers before 2.5 do not tell: there none is pending.

    Args:
        groups: by name, the partitions to ask about: those of members, not only those with a
            commit, as the first one may be pending.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> Found:
        placed, lost = await cluster.known_coordinators(list(groups), deadline)
        states: Found = {name: failure.code for name, failure in lost.items()}
        for name, answer in (await fetch_commits(cluster, placed, deadline, stable=groups)).items():
            if isinstance(answer, BrokerFailure):
                states[name] = answer.code
            else:
                pending = (at for at, code in answer.failures.items() if code == PENDING)
                states[name] = frozenset(pending)
        return states

    return admin.over_wire(ask) if groups else {}
