"""Three brokers that are controllers too, of which any one may go at any time."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from kio.schema.errors import ErrorCode
from kio.schema.metadata.v12.request import MetadataRequest
from kio.schema.metadata.v12.response import MetadataResponse

from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics, delete_topics

HEAL_S: Final = 300.0
SPEC: Final = ClusterSpec(
    brokers=3,
    controllers=3,
    properties={
        "offsets.topic.replication.factor": "3",
        "offsets.topic.num.partitions": "9",
        "default.replication.factor": "3",
        "min.insync.replicas": "2",
        # who stands still or is dead is noticed within seconds
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
    },
)
"""Writes survive the loss of one broker, and what was acknowledged is on two."""

Leaders = dict[tuple[str, int], tuple[int, int]]


class Trio(KafkaCluster):
    """The cluster, which is whole again on demand.

    Args:
        properties: broker properties that win over those of `SPEC`.
    """

    def __init__(self, properties: Mapping[str, str] | None = None) -> None:
        super().__init__(replace(SPEC, properties={**SPEC.properties, **(properties or {})}))
        self._paused: set[int] = set()

    def pause(self, node_id: int) -> None:
        """Let one broker stand still: its connections stay, and nothing is answered."""
        self._paused.add(node_id)
        super().pause(node_id)

    def go_on(self, node_id: int) -> None:
        """Let a broker that stands still go on."""
        super().go_on(node_id)
        self._paused.discard(node_id)

    def heal(self) -> None:
        """Let every broker run, and wait until all agree on who leads and nobody lags behind.

        A broker that stood still believes for a moment that it leads what others lead by now, and
        answers with what it knew then.
        """
        for node_id in list(self._paused):
            self.go_on(node_id)
        self.start()
        wait_until(self._agree, "the brokers agree, all replicas in sync", timeout_s=HEAL_S)

    def _agree(self) -> bool:
        views: list[Leaders | None] = []
        with suppress(OSError):
            views = [self._view(node_id) for node_id in self.node_ids]
        return bool(views) and None not in views and all(view == views[0] for view in views)

    def _view(self, node_id: int) -> Leaders | None:
        """Leader and epoch of each partition as one broker knows them; None unless all is well."""
        with WireConnection(self.address(node_id), timeout_s=10) as connection:
            known = connection.ask(
                MetadataRequest(
                    topics=None,
                    allow_auto_topic_creation=False,
                    include_topic_authorized_operations=False,
                ),
                MetadataResponse,
            )
        found: Leaders = {}
        for topic in known.topics:
            for row in topic.partitions:
                if row.error_code != ErrorCode.none or len(row.isr_nodes) < len(row.replica_nodes):
                    return None
                found[topic.name or "", row.partition_index] = row.leader_id, row.leader_epoch
        return found if len(known.brokers) == self.spec.brokers else None


def recreate(trio: Trio, topic: str, partitions: int) -> None:
    """Delete a topic and make another one of its name."""
    delete_topics(trio.bootstrap, [topic])
    create_topics(trio.bootstrap, {topic: partitions})
