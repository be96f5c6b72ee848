"""Moves of groups whose members share buckets of the coordinator's hash tables.

What a plan calls `exact`, made before the move or just before a member moves, comes true on a
coordinator that lives through the move. KGROUPS_FUZZ_PLANS=1000 and KGROUPS_FUZZ_SEED for others.
"""

import os
import random
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count

import pytest

from kgroups.core.planning.changes.kinds import MoveToProtocol
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.migration.broker_rules import BrokerRules
from kgroups.core.planning.migration.id_classes import id_classes
from kgroups.core.planning.outcomes.ids import broker_order, bucket
from kgroups.core.planning.outcomes.visible_order import Tables, Visible
from kgroups.core.planning.plan import Plan
from kgroups.core.snapshot import Group, Member, MemberProtocol, PartitionLog, Topic
from kgroups.core.uuids import uuid_text
from tests.support.fidelity.judging import Owned, as_set, clients_of, owned_by_client
from tests.support.planning.crowded_ids import CrowdedIds
from tests.support.planning.moving_group import MovingGroup

GIVEN = os.environ.get("KGROUPS_FUZZ_PLANS")
SEED = os.environ.get("KGROUPS_FUZZ_SEED", "0")
# The first one, and some in which members met in one bucket in an order that nobody had tried.
NUMBERS = range(int(GIVEN)) if GIVEN else (0, 61, 191)
STRATEGY = "cooperative-sticky"
ALONE = Visible(False, Tables(listing=False))

# What happens, what was told of it and how surely, and what came of it.
Step = tuple[str, tuple[str | None, Owned], Owned]


class Mover:
    """A group that moves, member by member, and what was told of every step.

    Args:
        seed: decides everything.
    """

    def __init__(self, seed: str) -> None:
        self.dice = random.Random(seed)
        self.ids = CrowdedIds(self.dice, self.dice.randint(1, 3))
        self.assignor = self.dice.choice(("uniform", "uniform", "range"))
        self.interval_ms = self.dice.choice((0, 1_000))
        self.topics = {
            name: Topic(
                name,
                {number: PartitionLog(0, 0, None, 1) for number in range(self.dice.randint(2, 9))},
                uuid_text(uuid.UUID(int=self.dice.getrandbits(128), version=4)),
            )
            for name in ("t", "u")[: self.dice.randint(1, 2)]
        }
        self.clients = [f"c{number}" for number in range(self.dice.randint(2, 6))]
        odds = random.Random(f"static {seed}")
        some = odds.random() < 0.3
        self.static = [name for name in self.clients if some and odds.random() < 0.5]

    def there(self) -> Iterator[Step]:
        """From the classic protocol to KIP-848."""
        real, stages = self._living(self._classic_group()), count()
        plan, names = self._plan(real, "consumer"), clients_of(real.group)
        for client in self._in_order():
            fresh, now, own = self._plan(real, "consumer"), clients_of(real.group), count()
            if client not in self.static and real.group.type == "classic":
                # Its leader decides: taken as told.
                next(stages), next(own)
                real = self._living(self._without(real.group, client, plan))
            elif client not in self.static:
                real.leave(client)
                at = next(stages), next(own)
                yield from self._seen(f"{client} leaves", at, plan, names, fresh, now, real)
            real.join_kip848(client, self.ids.kip848())
            at = next(stages), next(own)
            yield from self._seen(f"{client} rejoins", at, plan, names, fresh, now, real)

    def back(self) -> Iterator[Step]:
        """From KIP-848 to the classic protocol, but for the last member."""
        real = self._living(Group("g", "consumer", "Empty", "consumer", self.assignor, members=()))
        for client in self.clients:
            real.join_kip848(client, self.ids.kip848())
            real.settle()
        plan, names, stages = self._plan(real, "classic"), clients_of(real.group), count()
        for client in self._in_order()[:-1]:
            fresh, now, own = self._plan(real, "classic"), clients_of(real.group), count()
            real.leave(client)
            if client not in self.static:
                at = next(stages), next(own)
                yield from self._seen(f"{client} leaves", at, plan, names, fresh, now, real)
            real.join_classic(client, self.ids.kip848())
            at = next(stages), next(own)
            yield from self._seen(f"{client} rejoins", at, plan, names, fresh, now, real)

    def _in_order(self) -> list[str]:
        """As a move goes through them: by instance or client id."""
        return sorted(self.clients, key=lambda name: f"i-{name}" if name in self.static else name)

    def _without(self, group: Group, client: str, plan: Plan) -> Group:
        """The classic group after its first member has left, as the plan tells it."""
        held = plan.stages[0].assignment
        left = [one for one in group.members or () if one.client_id != client]
        return replace(
            group,
            members=tuple(replace(one, assignment=held[one.member_id]) for one in left),
        )

    def _seen(
        self,
        event: str,
        at: tuple[int, int],
        plan: Plan,
        names: Mapping[str, str],
        fresh: Plan,
        now: Mapping[str, str],
        real: MovingGroup,
    ) -> Iterator[Step]:
        """What both plans told of a step; now and then the next one follows at once.

        Args:
            at: which stage of `plan` it is, and which of `fresh`.
        """
        came = owned_by_client(real.settle())
        yield f"{event}, told first", told(plan, at[0], names), came
        yield f"{event}, told late", told(fresh, at[1], now), came
        if self.dice.random() < 0.5:
            real.wait(2_000)

    def _plan(self, real: MovingGroup, protocol: MemberProtocol) -> Plan:
        to_classic = protocol == "classic"
        return plan_changes(
            real.snapshot,
            real.group,
            [MoveToProtocol(protocol)],
            STRATEGY if to_classic else self.assignor,
            "java" if real.group.type == "classic" else None,
            rules=BrokerRules(),
        )

    def _living(self, group: Group) -> MovingGroup:
        return MovingGroup(
            self.topics, group, STRATEGY, self.assignor, self.dice,
            interval_ms=self.interval_ms, static=self.static,
        )  # fmt: skip

    def _classic_group(self) -> Group:
        """As DescribeGroups lists it, everything dealt out in turn."""
        instances = {name: f"i-{name}" for name in self.static}
        names = {self.ids.classic(instances.get(name, name)): name for name in self.clients}
        drawn = list(names)
        held: dict[str, dict[str, list[int]]] = {name: {} for name in drawn}
        partitions = [(t, n) for t, topic in self.topics.items() for n in topic.partitions]
        for place, (topic, number) in enumerate(partitions, self.dice.randrange(len(drawn))):
            held[drawn[place % len(drawn)]].setdefault(topic, []).append(number)
        members = [
            Member(
                name,
                names[name],
                "/h",
                instances.get(names[name]),
                subscription=tuple(self.topics),
                subscription_version=3,
                generation=3,
                assignment={topic: tuple(numbers) for topic, numbers in held[name].items()},
            )
            for name in broker_order(drawn, drawn, [])
        ]
        return Group("g", "classic", "Stable", "consumer", STRATEGY, members=tuple(members))


def told(plan: Plan, stage: int, clients: Mapping[str, str]) -> tuple[str | None, Owned]:
    """How sure a step is, and client id to partitions after it."""
    step = plan.stages[stage]
    return step.confidence, {clients[name]: as_set(held) for name, held in step.assignment.items()}


@pytest.mark.share(2)
@pytest.mark.timeout(14_400 if GIVEN else 600)
@pytest.mark.parametrize("way", [Mover.there, Mover.back], ids=["there", "back"])
def test_every_exact_step_comes_true(way: Callable[[Mover], Iterator[Step]]) -> None:
    """Whether told before the move or before this member moves."""
    wrong, words = [], []
    for number in NUMBERS:
        for event, (word, expected), came in way(Mover(f"{SEED}/{number}")):
            words.append(word)
            if word == "exact" and expected != came:
                wrong.append((number, event, expected, came))
    assert wrong == []
    assert words.count("exact") * 3 > len(words)


def test_members_of_one_bucket_stand_in_any_order() -> None:
    """In the first bucket a newcomer has no place before the others but among them."""
    dice = random.Random("first bucket")
    ids = CrowdedIds(dice, 3)
    first = next(one for one in iter(ids.kip848, "") if bucket(one, 16) == min(ids.buckets))
    second = next(one for one in iter(ids.kip848, "") if bucket(one, 16) == min(ids.buckets))
    for known in ([first], [first, second]):
        found, complete = id_classes("seed", known, {"new": None}, ALONE)
        assert complete
        assert sum(each.weight for each in found) == pytest.approx(1.0)
        orders = set()
        for each in found:
            (new,) = each.places
            met = list(known)
            shares = bucket(new, 16) == bucket(first, 16)
            behind = bucket(new, 16) > bucket(first, 16)
            met.insert(each.places[new] if shares else len(met) if behind else 0, "new")
            orders.add(tuple(met))
        assert len(orders) == len(found) == len(known) + 1
