"""What random scripts of classic groups must have met: each state's answers to each request.

One row a request; in it per state of the group the codes that must have occurred (79 is a handed
out member id, `parked` an answer that comes later). `none` is a group that does not exist.
"""

from collections.abc import Iterable, Mapping

from tests.support.coordinator.oracle_comparison import Move, Tally

Code = int | str
PARKED = "parked"
E, P, C, S, N = (
    "classic/Empty",
    "classic/PreparingRebalance",
    "classic/CompletingRebalance",
    "classic/Stable",
    "none",
)

Codes = Mapping[str, Mapping[str, tuple[Code, ...]]]

CODES: Codes = {
    "join": {
        N: (PARKED, 0, 23, 24, 25, 26, 79),
        E: (PARKED, -1, 0, 23, 24, 25, 26, 79),
        P: (PARKED, -1, 0, 23, 25, 26, 79, 81, 82),
        C: (PARKED, -1, 0, 23, 25, 26, 79, 81, 82),
        S: (PARKED, -1, 0, 23, 25, 26, 79, 81, 82),
    },
    "sync": {
        N: (23, 24, 25),
        E: (23, 24, 25),
        P: (22, 23, 25, 27, 82),
        C: (PARKED, 0, 22, 23, 25, 82),
        S: (0, 22, 23, 25, 82),
    },
    "heartbeat": {
        N: (24, 25),
        E: (24, 25),
        P: (22, 25, 27, 82),
        C: (0, 22, 25, 82),
        S: (0, 22, 25, 82),
    },
    "leave": {N: (0, 24, 25), E: (0, 24, 25), P: (0, 25, 82), C: (0, 25, 82), S: (0, 25, 82)},
    "commit": {
        N: (0, 3, 12, 22, 69, 100),
        E: (0, 3, 12, 25, 100),
        P: (0, 3, 12, 22, 25, 82, 100),
        C: (3, 22, 25, 27, 82, 100),
        S: (0, 3, 12, 22, 25, 82, 100),
    },
    "fetch": {N: (0, 100), E: (0, 100), P: (0, 100), C: (0, 100), S: (0, 100)},
    "delete_offsets": {
        N: (24, 69),
        E: (0, 3, 24),
        P: (0, 3, 68, 86),
        C: (0, 3, 68, 86),
        S: (0, 3, 68, 86),
    },
    "delete_groups": {N: (69,), E: (0,), P: (68,), C: (68,), S: (68,)},
    "describe": {N: (0, 69), E: (0,), P: (0,), C: (0,), S: (0,)},
    "consumer_describe": {N: (24, 69), E: (24, 69), P: (69,), C: (69,), S: (69,)},
}

# Changes of state that one operation makes; a request may go through two states at once.
MOVES: frozenset[Move] = frozenset(
    {
        (N, "join", E),
        (N, "join", P),
        (N, "join", C),
        (N, "commit", E),
        (E, "join", P),
        (E, "join", C),
        (E, "delete_groups", N),
        (E, "cleanup", N),
        (E, "advance", N),
        (P, "join", C),
        (P, "leave", C),
        (P, "leave", E),
        (P, "advance", C),
        (P, "advance", E),
        (C, "sync", S),
        (C, "join", P),
        (C, "leave", P),
        (C, "leave", E),
        (C, "advance", P),
        (C, "advance", E),
        (S, "join", P),
        (S, "join", C),
        (S, "leave", P),
        (S, "leave", E),
        (S, "advance", P),
        (S, "advance", E),
        (P, "reload", S),
        (P, "reload", E),
        (C, "reload", S),
        (C, "reload", E),
    }
)


def seen_in(tally: Tally, state: str, request: str, code: Code) -> int:
    """How often the group in this state gave that answer, whatever its member was in."""
    return sum(
        count
        for (before, name, answer), count in tally.seen.items()
        if name == request and answer == code and "/".join(before.split("/")[:2]) == state
    )


def gaps(tally: Tally, codes: Codes = CODES, moves: Iterable[Move] = MOVES) -> list[str]:
    """What should have occurred and did not, a line each."""
    missing = [
        f"{request} in {state} never answered {code}"
        for request, row in codes.items()
        for state, told in row.items()
        for code in told
        if not seen_in(tally, state, request, code)
    ]
    return missing + sorted(f"{one} never happened" for one in moves if not tally.moves[one])


def report(tally: Tally, codes: Codes = CODES) -> str:
    """How often each pair of the table occurred."""
    lines = [f"{tally.operations} operations, {len(tally.seen)} kinds of answers"]
    for request, row in codes.items():
        for state, told in row.items():
            counts = "  ".join(f"{code}: {seen_in(tally, state, request, code)}" for code in told)
            lines.append(f"{request:20}{state:28}{counts}")
    return "\n".join(lines)
