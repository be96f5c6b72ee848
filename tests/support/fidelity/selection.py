"""Which groups a run drives: one of each kind and more, or a few in which everything occurs."""

import random
from collections.abc import Iterator
from typing import Final

from tests.support.fidelity.hosts.pool import present_libraries
from tests.support.fidelity.libraries import Library, Protocol, strategies_of
from tests.support.fidelity.scripts import Script, write_script

GroupKind = tuple[tuple[Library, ...], Protocol, str]

STEPS: Final = 4
FEW_AT_FIRST: Final = 3

# Each library, both protocols, and libraries mixed; `make test` has the first of them.
FEW: Final[tuple[GroupKind, ...]] = (
    (("java",), "consumer", "uniform"),
    (("librdkafka",), "classic", "cooperative-sticky"),
    (("kafka-python",), "classic", "sticky"),
    (("java",), "classic", "cooperative-sticky"),
    (("librdkafka",), "consumer", "range"),
    (("aiokafka",), "classic", "sticky"),
    (("sarama",), "classic", "range"),
    (("franz-go",), "classic", "cooperative-sticky"),
    (("kafkajs",), "classic", "RoundRobinAssigner"),
    (("java", "librdkafka"), "classic", "range"),
)
FIRST: Final = 3
MIXED_OF_EACH: Final = 2


def few_scripts(seed: int, *, every_library: bool) -> list[Script]:
    """A group of each of the few kinds, or the share of `make test`."""
    present = present_libraries()
    some = FEW if every_library else FEW[:FIRST]
    kinds = [kind for kind in some if set(kind[0]) <= set(present)]
    return [
        write_script(f"few{number}", *kind, f"{seed}/{number}", STEPS, FEW_AT_FIRST)
        for number, kind in enumerate(kinds)
    ]


def many_scripts(seed: int, changes: int) -> Iterator[Script]:
    """Groups of every kind in turn, with so many changes together."""
    number, left = 0, changes
    while left > 0:
        for kind in _kinds(random.Random(f"{seed}/{number}")):
            if left <= 0:
                return
            yield write_script(f"fid{seed}x{number}", *kind, f"{seed}/{number}", STEPS)
            number += 1
            left -= STEPS


def _kinds(dice: random.Random) -> list[GroupKind]:
    """Every library with each strategy that it has, and libraries mixed by twos and threes;
    in any order."""
    present = present_libraries()
    kinds: list[GroupKind] = []
    by_strategy: dict[tuple[Protocol, str], list[Library]] = {}
    protocols: tuple[Protocol, ...] = ("classic", "consumer")
    for library in present:
        for protocol in protocols:
            for strategy in strategies_of(library, protocol):
                kinds.append(((library,), protocol, strategy))
                by_strategy.setdefault((protocol, strategy), []).append(library)
    for (protocol, strategy), libraries in by_strategy.items():
        if len(libraries) > 1:
            sizes = [2] * (MIXED_OF_EACH - 1) + [min(3, len(libraries))]
            some = [(*dice.sample(libraries, size),) for size in sizes]
            kinds += [(each, protocol, strategy) for each in some]
    dice.shuffle(kinds)
    return kinds


def speaks_java_or_librdkafka(script: Script) -> bool:
    """Whether all of its members, also those to come, are of these two."""
    known: set[Library] = {"java", "librdkafka"}
    moved = {step.library for step in script.steps if step.kind == "switch of library"}
    return {*script.libraries, *moved} <= known and all(
        spec.library in known for step in script.steps for spec in step.joins
    )
