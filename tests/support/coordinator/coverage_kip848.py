"""What random scripts of consumer groups (KIP-848) must have met, as `coverage_classic` says it.

The rows of ConsumerGroupHeartbeat hold every check: 42 an invalid request, 112 no such assignor,
69 no such group, 81 no room, 25 no such member, 82 another holder of the instance id, 111 an
instance id not released, 110 a wrong epoch, 128 a pattern that does not compile, -1 an upgrade
without a chosen protocol.
"""

from tests.support.coordinator import coverage_classic
from tests.support.coordinator.coverage_classic import Codes
from tests.support.coordinator.oracle_comparison import Move, Tally

EMPTY, ASSIGNING, RECONCILING, STABLE = (
    "consumer/Empty",
    "consumer/Assigning",
    "consumer/Reconciling",
    "consumer/Stable",
)
NONE = "none"
C_EMPTY, C_PREPARING, C_COMPLETING, C_STABLE = (
    "classic/Empty",
    "classic/PreparingRebalance",
    "classic/CompletingRebalance",
    "classic/Stable",
)
LIVELY = (ASSIGNING, RECONCILING, STABLE)

CODES: Codes = {
    "consumer_heartbeat": {
        NONE: (0, 42, 69, 112, 128),
        EMPTY: (0, 25, 42, 112, 128),
        **dict.fromkeys(LIVELY, (0, 25, 42, 81, 82, 110, 111, 112, 128)),
        C_EMPTY: (0, 42, 69, 112, 128),
        C_PREPARING: (-1, 0, 42, 69, 81, 112),
        C_COMPLETING: (0, 42, 69, 112),
        C_STABLE: (0, 42, 69, 112),
    },
    "consumer_describe": {NONE: (24, 69), EMPTY: (0,), **dict.fromkeys(LIVELY, (0,))},
    "join": {
        EMPTY: ("parked", 0, 25, 79),
        ASSIGNING: (-1, 0, 23, 25, 26, 79),
        RECONCILING: (-1, 0, 23, 25, 26, 79, 81, 82),
        STABLE: (0, 23, 25, 79, 81),
    },
    "sync": {
        EMPTY: (25,),
        ASSIGNING: (0, 22, 25, 27),
        RECONCILING: (0, 22, 23, 25, 27, 82),
        STABLE: (0, 25),
    },
    "heartbeat": {
        EMPTY: (25,),
        ASSIGNING: (0, 22, 25, 27),
        RECONCILING: (0, 22, 25, 27, 82),
        STABLE: (0, 25),
    },
    "leave": {EMPTY: (0, 25), ASSIGNING: (0, 25), RECONCILING: (0, 25, 82), STABLE: (0, 25)},
    "commit": {
        EMPTY: (0, 3, 12, 25),
        ASSIGNING: (0, 3, 12, 25, 35, 100, 113),
        RECONCILING: (0, 3, 12, 22, 25, 35, 100, 113),
        STABLE: (0, 3, 12, 25, 35, 100, 113),
    },
    "fetch": {
        EMPTY: (0, 25),
        ASSIGNING: (0, 25, 100),
        RECONCILING: (0, 25, 100, 113),
        STABLE: (0, 25, 100),
    },
    "delete_offsets": {EMPTY: (0, 3), **dict.fromkeys(LIVELY, (0, 3, 86))},
    "delete_groups": {EMPTY: (0,), **dict.fromkeys(LIVELY, (68,))},
    "describe": {EMPTY: (0, 69), **dict.fromkeys(LIVELY, (0, 69))},
}

# What a member was in when its heartbeat was accepted: the rows of the reconciler.
MEMBERS = ("STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS")

# Changes of state that one operation makes.
MOVES: frozenset[Move] = frozenset(
    {
        (NONE, "consumer_heartbeat", STABLE),
        (EMPTY, "consumer_heartbeat", STABLE),
        (EMPTY, "join", C_PREPARING),
        (EMPTY, "delete_groups", NONE),
        (EMPTY, "advance", NONE),
        (STABLE, "consumer_heartbeat", RECONCILING),
        (STABLE, "consumer_heartbeat", ASSIGNING),
        (STABLE, "consumer_heartbeat", EMPTY),
        (STABLE, "advance", EMPTY),
        (RECONCILING, "consumer_heartbeat", STABLE),
        (RECONCILING, "consumer_heartbeat", ASSIGNING),
        (RECONCILING, "advance", ASSIGNING),
        (ASSIGNING, "consumer_heartbeat", RECONCILING),
        (ASSIGNING, "consumer_heartbeat", STABLE),
        # there and back between the protocols
        (C_EMPTY, "consumer_heartbeat", STABLE),
        (C_STABLE, "consumer_heartbeat", RECONCILING),
        (C_PREPARING, "consumer_heartbeat", RECONCILING),
        (RECONCILING, "consumer_heartbeat", C_PREPARING),
        (RECONCILING, "advance", C_PREPARING),
    }
)


def accepted_from(tally: Tally, member_state: str) -> int:
    """How often a heartbeat of a member in this state was accepted."""
    return sum(
        count
        for (before, name, answer), count in tally.seen.items()
        if name == "consumer_heartbeat" and answer == 0 and member_state in before.split("/")[2:]
    )


def gaps(tally: Tally) -> list[str]:
    """What should have occurred and did not, a line each."""
    unheard = [f"no heartbeat from {one}" for one in MEMBERS if not accepted_from(tally, one)]
    return coverage_classic.gaps(tally, CODES, MOVES) + unheard


def report(tally: Tally) -> str:
    """How often each pair of the table occurred, and who was heard."""
    heard = [f"accepted from {state}: {accepted_from(tally, state)}" for state in MEMBERS]
    return "\n".join((coverage_classic.report(tally, CODES), *heard))
