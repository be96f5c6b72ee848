"""Subscriptions of classic members, read forgivingly: bytes of any library.

The layouts are those of `kgroups.assignors.wire`; what cannot be read is None here.
"""

from contextlib import suppress
from dataclasses import replace

from kgroups.assignors import wire
from kgroups.core.snapshot import Member


def classic_member(known: Member, metadata: bytes, assignment: bytes) -> Member:
    """A member with what its subscription and its assignment tell.

    Fields that the version of the bytes lacks are None. No bytes of an assignment are no
    partitions: so is a member shown that has just joined. A broker shows subscriptions only while
    the group is Stable.

    Source: ConsumerProtocolSubscription, ConsumerProtocolAssignment.

    Args:
        known: what the broker tells of the member, whatever its bytes say.
    """
    member = known if assignment else replace(known, assignment={})
    with suppress(wire.WireError):
        said = wire.decode_subscription(metadata)
        version = said.version
        member = replace(
            member,
            subscription=said.topics,
            rack=said.rack if version >= wire.RACK_SINCE else None,
            subscription_version=version,
            generation=said.generation if version >= wire.GENERATION_SINCE else None,
            owned=_by_topic(said.owned) if version >= wire.OWNED_SINCE else None,
            user_data=said.user_data,
        )
    if assignment:
        with suppress(wire.WireError):
            given = wire.decode_assignment(assignment)
            member = replace(
                member,
                assignment=_by_topic(given.partitions),
                assignment_version=given.version,
                assignment_user_data=given.user_data,
            )
    return member


def _by_topic(runs: wire.TopicRuns) -> dict[str, tuple[int, ...]]:
    """Topic to partitions; a topic named twice keeps all its partitions."""
    partitions: dict[str, tuple[int, ...]] = {}
    for topic, numbers in runs:
        partitions[topic] = partitions.get(topic, ()) + tuple(numbers)
    return partitions
