"""Groups to drive, and the changes that each lives through: all of it follows from a seed."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tests.support.fidelity.driven_group import MemberSpec
from tests.support.fidelity.libraries import TRAITS, Library, Protocol, strategies_of

Kind = Literal[
    "join",
    "join of several",
    "static join",
    "leave",
    "leave of several",
    "crash",
    "crash of several",
    "restart",
    "static restart",
    "static expiry",
    "removal",
    "rolling restart",
    "switch of library",
    "partitions",
    "new topic",
    "subscription",
]

# Groups of which every member is static and keeps its library's client id, where libraries can.
STATEFUL_SHARE = 0.2
# KIP-848 groups in which some members still speak the classic protocol.
CLASSIC_SHARE = 0.2

CRASHES: frozenset[Kind] = frozenset({"crash", "crash of several"})

MOST_MEMBERS = 6
MOST_TOPICS = 6


@dataclass(frozen=True)
class Step:
    """One change of a group.

    Args:
        joins: who joins.
        names: who it is about; empty for all where that is what it does.
        topic, count: a topic, and how many partitions it has then.
        topics: what members subscribe to then.
        library: what members move to.
    """

    kind: Kind
    joins: tuple[MemberSpec, ...] = ()
    names: tuple[str, ...] = ()
    topic: str = ""
    count: int = 0
    topics: tuple[str, ...] = ()
    library: Library = "java"


@dataclass(frozen=True)
class Script:
    """A group and what happens to it.

    Args:
        topics: name to partitions, at the beginning.
        members: who is there at the beginning.
        two_protocols: whether some of them speak the classic protocol in a KIP-848 group.
        most_at_first: as of `write_script`.
    """

    group: str
    libraries: tuple[Library, ...]
    protocol: Protocol
    strategy: str
    topics: Mapping[str, int]
    members: tuple[MemberSpec, ...]
    steps: tuple[Step, ...]
    seed: str
    two_protocols: bool = False
    most_at_first: int = MOST_MEMBERS

    def again(self) -> "Script":
        """The same of a group that is another one."""
        return write_script(
            f"{self.group}again",
            self.libraries,
            self.protocol,
            self.strategy,
            self.seed,
            len(self.steps),
            self.most_at_first,
        )

    @property
    def label(self) -> str:
        """Its library, or `mixed`: of libraries, or of protocols."""
        alike = len(self.libraries) == 1 and not self.two_protocols
        return self.libraries[0] if alike else "mixed"


@dataclass
class _Life:
    """A group while its script is written."""

    dice: random.Random
    group: str
    libraries: tuple[Library, ...]
    protocol: Protocol
    strategy: str
    pattern: str = ""
    alike: bool = True
    racks: bool = False
    stateful: bool = False
    two_protocols: bool = False
    topics: dict[str, int] = field(default_factory=dict)
    members: dict[str, MemberSpec] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    born: int = 0

    def newcomer(self, *, static: bool = False) -> MemberSpec:
        """A member that is not there yet; its name stands anywhere among the others'."""
        self.born += 1
        library = self.dice.choice(self.libraries)
        name = f"{self.dice.choice('abcxyz')}{self.born}"
        static = static or self.stateful
        wanted = sorted(self.topics)
        if not self.alike:
            wanted = sorted(self.dice.sample(wanted, self.dice.randint(1, len(wanted))))
        return MemberSpec(
            name,
            library,
            () if self.pattern else tuple(wanted),
            self.pattern,
            f"{self.dice.choice('klm')}-{name}" if static and TRAITS[library].static else "",
            self.dice.choice(("a", "b", "a", "b", "")) if self.racks else "",
            version=self.dice.choice(TRAITS[library].versions),
            unnamed=self.stateful,
        )

    def named(self, *, static: bool) -> list[str]:
        """Members that are static, or are not; those that speak another protocol stay."""
        return [
            name
            for name, spec in self.members.items()
            if bool(spec.instance) == static and not spec.classic
        ]

    def spares(self, count: int) -> bool:
        """Whether members may go: without one that speaks KIP-848 the group would be classic."""
        speakers = sum(not spec.classic for spec in self.members.values())
        return not self.two_protocols or speakers > count


def write_script(
    group: str,
    libraries: Sequence[Library],
    protocol: Protocol,
    strategy: str,
    seed: str,
    steps: int,
    most_at_first: int = MOST_MEMBERS,
) -> Script:
    """A group of these libraries with so many changes, always the same for the same seed.

    Args:
        most_at_first: members that it begins with at most. With fewer than it may grow to, more
            join than leave.
    """
    dice = random.Random(seed)
    life = _Life(dice, group, tuple(libraries), protocol, strategy)
    for letter in dice.sample("abcdefgh", dice.randint(1, 4)):
        life.topics[f"{group}-{letter}"] = dice.randint(1, 7)
    by_pattern = all(TRAITS[library].patterns for library in libraries)
    life.pattern = f"^{group}-.*" if by_pattern and dice.random() < 0.4 else ""
    # kafka-python's roundrobin raises where members subscribe to different topics.
    never_differ = "kafka-python" in libraries and strategy == "roundrobin"
    life.alike = never_differ or dice.random() < 0.7
    life.racks = dice.random() < 0.35
    able = all(TRAITS[library].unnamed for library in libraries)
    life.stateful = able and dice.random() < STATEFUL_SHARE
    life.two_protocols = protocol == "consumer" and dice.random() < CLASSIC_SHARE
    if life.two_protocols:
        life.pattern = ""
    for number in range(3 if life.two_protocols else dice.randint(1, most_at_first)):
        spec = life.newcomer(static=dice.random() < 0.35)
        if number < len(libraries):
            spec = replace(spec, library=libraries[number], version="")
            spec = replace(spec, version=dice.choice(TRAITS[spec.library].versions))
            spec = replace(spec, instance=spec.instance if TRAITS[spec.library].static else "")
        if life.two_protocols and number == 0:
            spec = replace(spec, classic="range")
        life.members[spec.name] = spec
    first, topics = tuple(life.members.values()), dict(life.topics)
    weights = [weight for weight, _ in CHANGES.values()]
    while len(life.steps) < steps:
        kind = dice.choices(list(CHANGES), weights)[0]
        step = CHANGES[kind][1](life)
        if step is not None:
            life.steps.append(replace(step, kind=kind))
    doomed = {name for step in life.steps if step.kind in CRASHES for name in step.names}

    def fated(specs: Sequence[MemberSpec]) -> tuple[MemberSpec, ...]:
        return tuple(replace(spec, crashes=spec.name in doomed) for spec in specs)

    return Script(
        group,
        tuple(libraries),
        protocol,
        strategy,
        topics,
        fated(first),
        tuple(replace(step, joins=fated(step.joins)) for step in life.steps),
        seed,
        life.two_protocols,
        most_at_first,
    )


def _join(life: _Life, count: int, *, static: bool = False) -> Step | None:
    if len(life.members) + count > MOST_MEMBERS:
        return None
    specs = tuple(life.newcomer(static=static) for _ in range(count))
    if static and not all(spec.instance for spec in specs):
        return None
    life.members.update({spec.name: spec for spec in specs})
    return Step("join", joins=specs)


def _leave(life: _Life, count: int) -> Step | None:
    dynamic = life.named(static=False)
    if len(dynamic) < count or len(life.members) - count < 1 or not life.spares(count):
        return None
    names = tuple(life.dice.sample(dynamic, count))
    for name in names:
        del life.members[name]
    return Step("leave", names=names)


def _one(life: _Life, *, static: bool) -> Step | None:
    """Something that happens to one member, which is there afterwards."""
    found = life.named(static=static)
    able = found and life.spares(1)
    return Step("restart", names=(life.dice.choice(found),)) if able else None


def _removal(life: _Life) -> Step | None:
    found = life.named(static=True)
    if not found or len(life.members) < 2 or not life.spares(1):
        return None
    name = life.dice.choice(found)
    del life.members[name]
    return Step("removal", names=(name,))


def _rolling(life: _Life) -> Step | None:
    few = len(life.members) <= 3 and not life.two_protocols
    return Step("rolling restart") if few else None


def _switch(life: _Life) -> Step | None:
    """All members move to another library that can do what they do."""
    if len(life.libraries) > 1 or len(life.members) > 3 or life.two_protocols:
        return None
    others = [
        name
        for name, traits in TRAITS.items()
        if name != life.libraries[0]
        and life.strategy in strategies_of(name, life.protocol)
        and (traits.patterns or not life.pattern)
        and (traits.static or not life.named(static=True))
        and (traits.unnamed or not life.stateful)
    ]
    if not others:
        return None
    library = life.dice.choice(others)
    life.libraries = (library,)
    for name, spec in life.members.items():
        life.members[name] = switched(spec, library)
    return Step("switch of library", library=library)


def switched(spec: MemberSpec, library: Library) -> MemberSpec:
    """The same member in another library."""
    return replace(spec, library=library, version=TRAITS[library].versions[0])


def _partitions(life: _Life) -> Step | None:
    read = {topic for spec in life.members.values() for topic in spec.topics}
    topic = life.dice.choice(sorted(life.topics if life.pattern else read))
    life.topics[topic] += life.dice.randint(1, 3)
    return Step("partitions", topic=topic, count=life.topics[topic])


def _new_topic(life: _Life) -> Step | None:
    if not life.pattern or len(life.topics) >= MOST_TOPICS:
        return None
    free = [letter for letter in "abcdefgh" if f"{life.group}-{letter}" not in life.topics]
    topic = f"{life.group}-{life.dice.choice(free)}"
    life.topics[topic] = life.dice.randint(1, 5)
    return Step("new topic", topic=topic, count=life.topics[topic])


def _subscription(life: _Life) -> Step | None:
    """One member or all subscribe to more topics, or to fewer: franz-go has no call for both."""
    able = [n for n, spec in life.members.items() if TRAITS[spec.library].resubscribes]
    if life.pattern or len(able) < len(life.members) or len(life.topics) < 2:
        return None
    alike = len({spec.topics for spec in life.members.values()}) == 1
    never_differ = "kafka-python" in life.libraries and life.strategy == "roundrobin"
    everybody = alike and (never_differ or life.dice.random() < 0.5)
    if never_differ and not everybody:
        return None
    names = tuple(able) if everybody else (life.dice.choice(able),)
    before = life.members[names[0]].topics
    more = [topic for topic in life.topics if topic not in before]
    if more and (len(before) < 2 or life.dice.random() < 0.5):
        wanted = {*before, *life.dice.sample(more, life.dice.randint(1, len(more)))}
    elif len(before) > 1:
        wanted = set(life.dice.sample(before, life.dice.randint(1, len(before) - 1)))
    else:
        return None
    topics = tuple(sorted(wanted))
    for name in names:
        life.members[name] = replace(life.members[name], topics=topics)
    return Step("subscription", names=names, topics=topics)


# Of a group's changes those are most that come with every deploy and every day: members that leave
# or are removed, restart or come back, join, and topics that grow. Seldom are moves to another
# library and members that stay away longer than their session.
CHANGES: Mapping[Kind, tuple[int, Callable[[_Life], Step | None]]] = {
    "join": (6, lambda life: _join(life, 1)),
    "join of several": (2, lambda life: _join(life, life.dice.randint(2, 3))),
    "static join": (3, lambda life: _join(life, 1, static=True)),
    "leave": (7, lambda life: _leave(life, 1)),
    "leave of several": (2, lambda life: _leave(life, 2)),
    "crash": (3, lambda life: _leave(life, 1)),
    "crash of several": (1, lambda life: _leave(life, 2)),
    "restart": (3, lambda life: _one(life, static=False) if len(life.members) > 1 else None),
    "static restart": (8, lambda life: _one(life, static=True)),
    "static expiry": (1, lambda life: _one(life, static=True) if len(life.members) > 1 else None),
    "removal": (5, _removal),
    "rolling restart": (2, _rolling),
    "switch of library": (1, _switch),
    "partitions": (7, _partitions),
    "new topic": (4, _new_topic),
    "subscription": (4, _subscription),
}
"""How often each kind of change is drawn, and what writes it; None where it cannot be now."""
