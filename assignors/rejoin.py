"""The next JoinGroup of a Java member: the way from one assignment to the next.

Source: ConsumerCoordinator.metadata; StickyAssignor and CooperativeStickyAssignor,
`onAssignment` and `subscriptionUserData`.
"""

from collections.abc import Iterable
from dataclasses import replace

from kgroups.assignors.order.java_order import utf16_key
from kgroups.assignors.spec import MemberSubscription, TopicPartition
from kgroups.assignors.wire import encode_cooperative_data, runs_of, sticky_topic_order

STICKY, COOPERATIVE = "sticky", "cooperative-sticky"


def rejoin(
    member: MemberSubscription,
    protocol: str,
    partitions: Iterable[TopicPartition],
    generation: int,
) -> MemberSubscription:
    """The member's next subscription after it was given these partitions.

    Args:
        member: its id, topics, instance id and rack are kept.
        protocol: name of the strategy that the group uses.
        partitions: its assignment, in list order.
        generation: in which it got them.
    """
    if protocol == STICKY:
        previous = (sticky_topic_order(partitions), generation)
        return replace(member, owned=(), generation=generation, user_data=None, previous=previous)
    if protocol == COOPERATIVE:
        listed = sorted(partitions, key=lambda tp: (utf16_key(tp[0]), tp[1]))
        return replace(
            member,
            owned=runs_of(listed),
            generation=generation,
            user_data=encode_cooperative_data(generation),
            previous=None,
        )
    return replace(member, owned=(), generation=generation, user_data=None, previous=None)
