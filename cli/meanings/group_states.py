"""States of groups and of their members: what each means, and what to do in it.

Source: ClassicGroupState, ConsumerGroup, ShareGroup and StreamsGroup of Kafka 4.4; the states of
members are those of its Java consumer (AbstractCoordinator, MemberState), in its spelling, and of
the broker's ConsumerGroupMember.
"""

from collections.abc import Mapping
from typing import Final

from kgroups.cli.meanings.meaning import Kind, Meaning
from kgroups.cli.params import plain

Rows = Mapping[str, tuple[str, str | None]]

_START: Final = "start its consumers; until then offsets can be reset, copied and deleted"
_DEAD: Final = (
    "the group does not exist: it was deleted, or its offsets have expired",
    "check the name; consumers that start create the group",
)
_ASSIGNING: Final = (
    "members or topics have changed, and the broker has yet to compute the new assignment",
    "wait: it takes about a second; if it lasts, read the log of the coordinator",
)
_WAIT: Final = "wait a moment; `kgroups wait GROUP --until stable` does"

CLASSIC: Final[Rows] = {
    "Empty": ("no members; committed offsets are kept until they expire", _START),
    "PreparingRebalance": (
        "a rebalance has begun: the coordinator waits for every member to rejoin, at most for "
        "the longest max.poll.interval.ms; eager members read nothing meanwhile",
        "wait; if it lasts, a member is busy with its records: see which with `kgroups describe "
        "GROUP --members`, and what it logs",
    ),
    "CompletingRebalance": (
        "every member has rejoined and waits for the assignment, which the leader computes",
        "wait; if it lasts, read the log of the leader: `kgroups plan GROUP` says which library "
        "leads",
    ),
    "Stable": (
        "every member has its assignment and sends heartbeats; whether it keeps up, only lag says",
        None,
    ),
    "Dead": _DEAD,
}
CONSUMER: Final[Rows] = {
    "Empty": CLASSIC["Empty"],
    "Assigning": _ASSIGNING,
    "Reconciling": (
        "the assignment is computed, and members are moving to it, each at its own pace: some "
        "have yet to give up partitions or to get theirs",
        "wait; if it lasts, `kgroups describe GROUP --members --verbose` shows whose assignment "
        "differs from its target: that member, or who owns its partitions, is busy",
    ),
    "Stable": ("every member has the partitions of its target assignment", None),
    "Dead": _DEAD,
}
SHARE: Final[Rows] = {
    "Empty": ("no members; the share-partition state is kept", "start its consumers"),
    "Stable": ("the group has members; all of them may read the same partitions", None),
    "Dead": ("the group does not exist", "check the name; consumers that start create the group"),
}
STREAMS: Final[Rows] = {
    "Empty": CLASSIC["Empty"],
    "NotReady": (
        "tasks cannot be assigned: a source or internal topic is missing, or source topics are "
        "not co-partitioned",
        "create the topic or mend its partitions; the application's log says which",
    ),
    "Assigning": _ASSIGNING,
    "Reconciling": (
        "tasks are assigned, and members have yet to give up or to start some of them",
        "wait; restoring state may take long: read the application's log",
    ),
    "Stable": ("every member runs the tasks of its target assignment", None),
    "Dead": _DEAD,
}
CLASSIC_MEMBER: Final[Rows] = {
    "UNJOINED": (
        "not in the group: it has just started, or was told to join again; without members that "
        "joined, the group is Empty",
        "if it lasts, see that the application polls, and finds its coordinator",
    ),
    "PREPARING_REBALANCE": (
        "has sent JoinGroup and waits for the others; its group is PreparingRebalance",
        _WAIT,
    ),
    "COMPLETING_REBALANCE": (
        "has joined and waits for its assignment; its group is CompletingRebalance",
        _WAIT,
    ),
    "STABLE": ("has its assignment and sends heartbeats", None),
}
CONSUMER_MEMBER: Final[Rows] = {
    "UNSUBSCRIBED": ("subscribes to nothing, so it is in no group", "subscribe it to topics"),
    "JOINING": ("joins with its next heartbeat, at epoch 0", _WAIT),
    "RECONCILING": (
        "commits, gives up partitions and takes over others, for which its application must poll; "
        "its group is Reconciling",
        "if it lasts, the application is busy between two polls",
    ),
    "ACKNOWLEDGING": ("tells the broker with its next heartbeat what it owns now", _WAIT),
    "STABLE": ("owns what it was assigned", None),
    "FENCED": (
        "the broker no longer knows its epoch: it loses its partitions and joins again",
        "see whether it was out of reach for longer than its session timeout",
    ),
    "STALE": (
        "did not poll within max.poll.interval.ms and has left; it joins again when it polls",
        "process fewer records between polls, or increase max.poll.interval.ms",
    ),
    "PREPARE_LEAVING": ("commits and gives up its partitions before it leaves", None),
    "LEAVING": ("tells the broker that it leaves", None),
    "FATAL": ("a failure that it cannot mend, such as a missing permission", "read its log"),
    "UNREVOKED_PARTITIONS": (
        "in the broker's records: has yet to confirm that it gave up partitions; its group is "
        "Reconciling",
        "if it lasts, the application is busy between two polls",
    ),
    "UNRELEASED_PARTITIONS": (
        "in the broker's records: waits for partitions that another member still owns; its group "
        "is Reconciling",
        "find the owner with `kgroups describe GROUP --members --verbose`",
    ),
}
# What early releases of Kafka called a state -> its name.
FORMER: Final[Mapping[str, str]] = {"AwaitingSync": "CompletingRebalance"}

OF_GROUPS: Final[Mapping[Kind, Rows]] = {
    "state of a classic group": CLASSIC,
    "state of a consumer group": CONSUMER,
    "state of a share group": SHARE,
    "state of a streams group": STREAMS,
}
GROUP_STATES: Final = tuple(dict.fromkeys(state for rows in OF_GROUPS.values() for state in rows))

STATES_OF: Final[Mapping[Kind, Rows]] = {
    **OF_GROUPS,
    "state of a classic member": CLASSIC_MEMBER,
    "state of a consumer member": CONSUMER_MEMBER,
    "former state of a group": {
        word: (f"what early releases of Kafka called {name}", f"`kgroups explain {name}`")
        for word, name in FORMER.items()
    },
}
"""Every state by whose it is."""

STATES: Final = tuple(
    Meaning(word, kind, meaning, to_do)
    for kind, rows in STATES_OF.items()
    for word, (meaning, to_do) in rows.items()
)


def hint_of(text: str) -> str | None:
    """Hint about a word that is no state of groups, where it is a known one all the same."""
    word = plain(text)
    for former, name in FORMER.items():
        if plain(former) == word:
            return f"it is now called {name}"
    for rows in (CLASSIC_MEMBER, CONSUMER_MEMBER):
        for state in rows:
            if plain(state) == word:
                return f"it is a state of members, not of groups: see `kgroups explain {state}`"
    return None
