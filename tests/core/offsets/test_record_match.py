"""Where a commit belongs in another log: by the records on both sides of it."""

import random

import pytest

from kgroups.core.offsets.record_match import (
    NEIGHBOURS,
    Edge,
    Match,
    Sightings,
    Spot,
    Standing,
    fingerprint,
    matched,
)
from kgroups.core.protocol.batches import Record

FIRST = 100
"""The offset of the first record of every target log here."""


def spots(text: str, first: int = 0) -> list[Spot]:
    """A record a letter, of one millisecond, at offsets in a row; `_` is none."""
    return [
        Spot(offset, 7, fingerprint(Record(offset, 7, None, letter.encode())))
        for offset, letter in enumerate(text, first)
        if letter != "_"
    ]


def place(source: str, target: str, *, begun: bool = False) -> Match:
    """The match of a commit at the `|` of the source.

    Args:
        target: `..` before it: it has records before that were not read.
    """
    before, after = source.split("|")
    standing = Standing(spots(before)[-NEIGHBOURS:], spots(after, len(before))[:NEIGHBOURS])
    seen = Sightings(frozenset(spot.print for side in standing for spot in side))
    seen.edge(Edge.UNKNOWN if begun else Edge.START)
    for spot in spots(target, FIRST):
        seen.add(spot)
    seen.end = FIRST + len(target)
    seen.edge(Edge.END)
    return matched(standing, seen)


CASES = [
    ("the same log", "abc|def", "abcdef", "exact", 103, 1),
    ("nothing read", "|abc", "abc", "exact", 100, 1),
    ("all read", "abc|", "abc", "exact", 103, 1),
    ("all read, and the target has more", "abc|", "abcxy", "exact", 103, 1),
    ("all read, the last records are not there", "abc|", "ab", "not there", None, 0),
    ("the next record is not replicated yet", "abc|def", "abc", "exact", 103, 1),
    ("replication is behind the commit", "abc|def", "ab", "not there", None, 0),
    ("gaps of transactions", "ab__|__cd", "a_b_c_d", "exact", 104, 1),
    ("older records expired there", "abc|def", "cdef", "exact", 101, 1),
    ("read records and the next expired there", "abc|def", "ef", "exact", 100, 1),
    ("the next was compacted there", "abc|def", "abcef", "exact", 103, 1),
    ("those around were compacted there", "abc|def", "af", "exact", 101, 1),
    ("the source has expired", "|def", "abcdef", "exact", 103, 1),
    ("the source was compacted", "a|f", "abcdef", "exact", 105, 1),
    ("aborted copies lie between", "abc|def", "abcxdef", "exact", 104, 1),
    ("a chunk came twice", "abc|def", "abcdcdef", "ambiguous", 103, 2),
    ("those behind the commit came twice", "abc|def", "abcdedef", "exact", 103, 1),
    ("alike in a row", "ahh|hhb", "ahhhhb", "exact", 103, 1),
    ("alike everywhere", "hh|hh", "hhhhhhh", "ambiguous", 100, 7),
    ("an older one is alike, the next is compacted", "a|abc", "abc", "exact", 100, 1),
    ("a newer one is alike, the next is compacted", "x|ayaz", "xyaz", "exact", 101, 1),
    ("an older one is alike, the next is not replicated", "xay|az", "xay", "exact", 103, 1),
    ("nothing in common", "abc|def", "uvw", "not there", None, 0),
    ("an empty target", "abc|def", "", "not there", None, 0),
    ("an empty source", "|", "abc", "not there", None, 0),
    ("the only record", "|a", "xay", "exact", 101, 1),
    ("the only record, twice", "|a", "axa", "ambiguous", 100, 2),
]


@pytest.mark.parametrize(
    ("source", "target", "verdict", "offset", "alike"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_places(source: str, target: str, verdict: str, offset: int | None, alike: int) -> None:
    """Logs as letters."""
    found = place(source, target)
    assert (found.verdict, found.offset, found.alike) == (verdict, offset, alike)


def a_record(number: int, offset: int, alike: frozenset[int]) -> Spot:
    """Four numbers share a millisecond; one that is alike is the same as the one before."""
    while number in alike:
        number -= 1
    time_ms = number // 4
    return Spot(offset, time_ms, fingerprint(Record(offset, time_ms, None, b"%d" % number)))


@pytest.mark.share(4)
@pytest.mark.parametrize("thousand", range(3))
def test_random_logs(thousand: int) -> None:
    """None is skipped; none is read again where it is exact; it is found if nothing is lost."""
    for seed in range(thousand * 1_000, (thousand + 1) * 1_000):
        dice = random.Random(seed)
        count = dice.randint(0, 140)
        alike = frozenset(n for n in range(1, count) if dice.random() < dice.choice([0, 0.1, 0.6]))
        lost = {n for n in range(count) if n not in alike | {m - 1 for m in alike}}
        gone = [{n for n in lost if dice.random() < dice.choice([0, 0.4])} for _ in range(2)]
        source = [n for n in range(count) if n not in gone[0]]
        kept = [n for n in range(count - dice.choice([0, 10])) if n not in gone[1]]
        target: list[int | None] = [*[None] * dice.randint(0, 8), *kept]
        commit, start = dice.randint(0, len(source)), dice.choice([0, min(10, len(target))])
        here = [a_record(n, offset, alike) for offset, n in enumerate(source)]
        standing = Standing(
            here[max(0, commit - NEIGHBOURS) : commit], here[commit : commit + NEIGHBOURS]
        )
        seen = Sightings(frozenset(spot.print for side in standing for spot in side))
        seen.edge(Edge.START)
        for offset, number in enumerate(target[start:], start):
            strange = a_record(-1 - offset, offset, frozenset())
            seen.add(strange if number is None else a_record(number, offset, alike))
        seen.end = len(target)
        seen.edge(Edge.END)
        found = matched(standing, seen)
        if found.offset is None:
            assert commit == len(source) or source[commit] not in target[start:] or alike, seed
            continue
        skipped = set(source[commit:]).intersection(target[start : found.offset])
        again = set(source[:commit]).intersection(target[found.offset :])
        assert (found.verdict, skipped) in (("exact", set()), ("ambiguous", set())), seed
        assert found.verdict == "ambiguous" or again == set(), seed
