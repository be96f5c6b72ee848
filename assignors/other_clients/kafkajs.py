"""kafkajs's `RoundRobinAssigner`: the leader's own topics dealt to all members alike.

Who subscribes to what plays no part: a member that is given a partition of a topic that it does
not read leaves it unread, and topics that the leader does not read are given to nobody.

Source: src/consumer/assigners/roundRobinAssigner and src/consumer/consumerGroup.js of kafkajs
2.2.4.
"""

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.order.java_order import utf16_key
from kgroups.assignors.other_clients.choices import ByChance, Choices
from kgroups.assignors.other_clients.ported_group import JOINED
from kgroups.assignors.spec import AssignmentRequest, AssignorError, Fault

NAME = "RoundRobinAssigner"
INTEGER_KEYS = 2**32 - 1  # a topic called `7` comes first in a JavaScript object


class KafkajsRoundRobin(ByChance):
    """`RoundRobinAssigner`, eager; the only strategy that kafkajs brings along."""

    name = NAME
    waives = frozenset({"complete", "subscribed", "balanced", "sticky", "order-free"})

    def decide(self, request: AssignmentRequest, choices: Choices) -> CompactAssignment:
        """One answer; any member may lead where the request does not say who does.

        Raises:
            AssignorError: the leader that is named is no member.
        """
        view = LeaderView(request, JOINED)
        table = view.table
        lists: list[list[int]] = [[] for _ in view.members]
        if not view.members:
            return CompactAssignment.of_lists([], table, [])
        circle = sorted(range(len(view.members)), key=lambda i: utf16_key(view.member_ids[i]))
        dealt = [
            table.bases[table.index[topic]] + partition
            for topic in dict.fromkeys(self._leaders_topics(view, choices))
            if topic in table.index
            for partition in range(table.counts[table.index[topic]])
        ]
        for place, number in enumerate(dealt):
            lists[circle[place % len(circle)]].append(number)
        for numbers in lists:
            numbers.sort(key=lambda number: _key_order(table.partition(number)[0]))
        return CompactAssignment.of_lists(
            view.member_ids, table, lists, faults=_unread(view, lists)
        )

    def _leaders_topics(self, view: LeaderView, choices: Choices) -> tuple[str, ...]:
        """Topics of the leader in the order in which it names them."""
        leader = view.request.leader
        if leader is None:
            return choices.pick(list(dict.fromkeys(member.topics for member in view.members)))
        if leader not in view.member_ids:
            raise AssignorError(f"the leader `{leader}` is not a member of the group")
        return view.members[view.member_ids.index(leader)].topics


def _key_order(topic: str) -> tuple[int, int]:
    """Sort key that puts integers first, as the keys of a JavaScript object are."""
    plain = topic == "0" or (topic.isdecimal() and topic.isascii() and topic[0] != "0")
    if plain and int(topic) < INTEGER_KEYS:
        return 0, int(topic)
    return 1, 0


def _unread(view: LeaderView, lists: list[list[int]]) -> list[Fault]:
    """Partitions that their owner does not read, one fault a member and topic."""
    faults: dict[tuple[int, str], Fault] = {}
    for position, numbers in enumerate(lists):
        member = view.members[position]
        for number in numbers:
            topic, partition = view.table.partition(number)
            if topic not in member.topics:
                faults.setdefault(
                    (position, topic),
                    Fault(
                        "FOREIGN_PARTITION",
                        (
                            f"`{member.member_id}` is assigned partitions of `{topic}`, to which "
                            "it does not subscribe: a kafkajs member does not read them"
                        ),
                        member.member_id,
                        topic,
                        partition,
                    ),
                )
    return list(faults.values())
