"""`lag` and `lag-sticky`: the partitions that are furthest behind go to different members.

Source of `lag`: the lag-based assignor published as grantneale/kafka-lag-based-assignor;
KAFKA-5337.

`lag-sticky` is ours: first the general sticky algorithm, so counts are balanced and little moves;
then a heavy partition of the member that is furthest behind is exchanged for a light one of
another, as long as its lag is more than the allowed multiple of what an even share would be.
"""

from dataclasses import dataclass
from typing import ClassVar

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.claims import read_claims, sticky_member_data
from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.java.sticky_fast import FastBalance
from kgroups.assignors.java.sticky_general import GeneralView
from kgroups.assignors.spec import AssignmentRequest, AssignorError, MemberSubscription
from kgroups.assignors.wire import TopicRuns


def lag_of(view: LeaderView) -> list[int]:
    """Records still to be read in each partition, by partition number; 0 where unknown."""
    lags = []
    for name, count in zip(view.table.names, view.table.counts, strict=True):
        given = list(view.request.topics[name].lag[:count])
        lags += [max(lag or 0, 0) for lag in given] + [0] * (count - len(given))
    return lags


class LagAssignor:
    """`lag`, eager: topic by topic, in rounds in which every subscriber gets one partition.

    A round goes through the subscribers by the lag that they got in this topic so far. Totals do
    not carry over from topic to topic, and nothing is sticky.
    """

    name = "lag"
    waives: ClassVar[frozenset[str]] = frozenset({"balanced", "sticky"})

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics."""
        view = LeaderView(request)
        lags = lag_of(view)
        lists: list[list[int]] = [[] for _ in view.members]
        for topic, readers in enumerate(view.subscribers):
            base, count = view.table.bases[topic], view.table.counts[topic]
            behind = sorted(range(base, base + count), key=lambda number: (-lags[number], number))
            totals = dict.fromkeys(sorted(readers, key=view.ranks.__getitem__), 0)
            for start in range(0, count, len(totals)):
                order = sorted(totals, key=totals.__getitem__)
                for member, number in zip(order, behind[start:], strict=False):
                    lists[member].append(number)
                    totals[member] += lags[number]
        return CompactAssignment.of_lists(view.member_ids, view.table, lists)


MAX_SKEW = 1.2


def remembered(member: MemberSubscription) -> tuple[TopicRuns, int | None]:
    """The previous partitions of a member: its owned ones, or else those of its user data."""
    if member.owned:
        return member.owned, member.generation if member.generation >= 0 else None
    return sticky_member_data(member)


@dataclass(slots=True)
class Loads:
    """Who holds what while lag is evened out.

    Args:
        lists: partition numbers per member.
        lags: records still to be read, per partition.
        readers: per topic number its subscribers.
        topic_of: topic number of each partition.
        totals: lag per member.
        least: per topic number the smallest number of partitions of a subscriber; exchanges do
            not change it.
    """

    lists: list[list[int]]
    lags: list[int]
    readers: list[frozenset[int]]
    topic_of: list[int]
    totals: list[int]
    least: list[int]

    def may_take(self, member: int, number: int) -> bool:
        """Whether counts stay balanced when a member gets this partition for another."""
        topic = self.topic_of[number]
        return member in self.readers[topic] and len(self.lists[member]) <= self.least[topic] + 1

    def best_exchange(self, heavy: int, light: int) -> tuple[int, int] | None:
        """(partition of heavy, partition of light) whose exchange evens out the two best."""
        gap = self.totals[heavy] - self.totals[light]
        best, choice = 0, None
        for mine in self.lists[heavy]:
            if not self.may_take(light, mine):
                continue
            for theirs in self.lists[light]:
                shift = self.lags[mine] - self.lags[theirs]
                gain = min(shift, gap - shift)
                if gain > best and self.may_take(heavy, theirs):
                    best, choice = gain, (mine, theirs)
        return choice

    def exchange(self, heavy: int, light: int, pair: tuple[int, int]) -> None:
        """Let two members exchange two partitions."""
        for member, gone, come in ((heavy, *pair), (light, *reversed(pair))):
            held = self.lists[member]
            held[held.index(gone)] = come
            self.totals[member] += self.lags[come] - self.lags[gone]

    def even_out(self, limit: float) -> None:
        """Exchange until nobody is above the limit or nothing helps.

        Each exchange makes the sum of squares smaller, so this ends.
        """
        while True:
            order = sorted(range(len(self.totals)), key=self.totals.__getitem__)
            heavy = order[-1]
            if self.totals[heavy] <= limit:
                return
            for light in order[:-1]:
                pair = self.best_exchange(heavy, light)
                if pair is not None:
                    self.exchange(heavy, light, pair)
                    break
            else:
                return


class StickyLagAssignor:
    """`lag-sticky`, eager. The option `max_skew` says how uneven lag may stay (1.2)."""

    name = "lag-sticky"
    waives: ClassVar[frozenset[str]] = frozenset()

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics.

        Raises:
            AssignorError: the option `max_skew` is not a number of at least 1.
        """
        skew = request.options.get("max_skew", MAX_SKEW)
        if not isinstance(skew, int | float) or skew < 1:
            raise AssignorError(f"`max_skew` is {skew!r}", hint="expected a number of at least 1")
        view = LeaderView(request)
        claims = read_claims(view, remembered).listed()
        general = GeneralView(view)
        lists = FastBalance(general, general.without_strays(general.start(claims), claims)).run()
        lags = lag_of(view)
        topic_of = [t for t, count in enumerate(view.table.counts) for _ in range(count)]
        totals = [sum(lags[number] for number in held) for held in lists]
        readers = [frozenset(members) for members in view.subscribers]
        active = sum(
            1 for member in view.members if any(t in view.table.index for t in member.topics)
        )
        share = max(sum(lags) / max(active, 1), max(lags, default=0))
        least = [min(len(lists[member]) for member in members) for members in readers]
        loads = Loads(lists, lags, readers, topic_of, totals, least)
        if share:
            loads.even_out(share * skew)
        return CompactAssignment.of_lists(
            view.member_ids,
            view.table,
            loads.lists,
            faults=claims.faults,
            generation=claims.newest,
        )
