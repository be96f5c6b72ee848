"""Topics with the bounds of their logs, as writes of offsets need them."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.reads.by_leader import TopicListing, read_topics
from kgroups.core.kafka.reads.log_bounds import END, START, read_bounds
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.snapshot import Topic

_NONE: Final[Mapping[str, Topic]] = MappingProxyType({})


def topics_with_bounds(
    admin: ClusterAdmin, names: Iterable[str], known: Mapping[str, Topic] = _NONE
) -> TopicListing:
    """Those of the topics that exist, with start and end of each partition's log.

    Args:
        known: topics that were just looked up; they are not looked up again.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> TopicListing:
        listing = await read_topics(cluster, set(names) - known.keys(), deadline)
        topics = {name: known[name] for name in names if name in known} | listing.topics
        bounds = await read_bounds(cluster, topics, (START, END), deadline)
        return TopicListing(bounds, listing.failures)

    return admin.over_wire(ask, lambda client: client.topics_with_bounds(tuple(names)))
