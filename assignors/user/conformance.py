"""Trying a strategy on many small groups, and making the one on which it fails smaller still.

Groups come from a documented generator and a seed, so a finding can be repeated anywhere.
"""

import base64
from collections.abc import Iterator
from dataclasses import replace

from kgroups.assignors.checks import Finding, broken_promises
from kgroups.assignors.spec import (
    AssignmentRequest,
    Assignor,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.assignors.user.examples import split_mix

MAX_MEMBERS, MAX_TOPICS, MAX_PARTITIONS = 7, 5, 9


class Dice:
    """Whole numbers out of SplitMix64."""

    def __init__(self, seed: int) -> None:
        self._numbers = split_mix(seed)

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        return next(self._numbers) * limit >> 64


def random_request(seed: int) -> AssignmentRequest:
    """A small group: members, topics, lag, and now and then an earlier assignment."""
    dice = Dice(seed)
    names = [f"t{number}" for number in range(dice.below(MAX_TOPICS) + 1)]
    topics = {}
    for place, name in enumerate(names):
        partitions = dice.below(MAX_PARTITIONS + 1)
        lag = tuple(dice.below(1_000) for _ in range(partitions))
        raw = (place + 2).to_bytes(8, "big") + dice.below(1 << 60).to_bytes(8, "big")
        topic_id = base64.urlsafe_b64encode(raw).decode().rstrip("=")
        topics[name] = TopicPartitions(partitions, lag=lag, topic_id=topic_id)
    alike = dice.below(2) == 0
    members = []
    for number in range(dice.below(MAX_MEMBERS) + 1):
        chosen = tuple(name for name in names if alike or dice.below(3))
        instance = f"i{dice.below(99)}-{number}" if dice.below(4) == 0 else None
        members.append(
            MemberSubscription(f"m{dice.below(1 << 32):08x}-{number}", chosen or tuple(names[:1]),
                               instance)
        )  # fmt: skip
    if dice.below(3):
        members = _with_history(dice, members, topics)
    return AssignmentRequest(tuple(members), topics, generation=4)


def _with_history(
    dice: Dice, members: list[MemberSubscription], topics: dict[str, TopicPartitions]
) -> list[MemberSubscription]:
    """The members with partitions that they had before; some partitions had no owner."""
    held: list[dict[str, list[int]]] = [{} for _ in members]
    for name, topic in topics.items():
        for partition in range(topic.partitions):
            owner = dice.below(len(members) + 1)
            if owner < len(members) and name in members[owner].topics:
                held[owner].setdefault(name, []).append(partition)
    veterans = []
    for member, runs in zip(members, held, strict=True):
        owned = tuple((name, tuple(partitions)) for name, partitions in runs.items())
        veterans.append(replace(member, owned=owned, generation=4, previous=(owned, 4)))
    return veterans


def check_assignor(strategy: Assignor, seed: int, cases: int) -> list[Finding]:
    """Broken promises of a strategy, at most one of each kind, each with a small failing case.

    Args:
        strategy: whose `waives` says what it does not promise; guard a user's own with
            `user_defined.GuardedAssignor`.
        seed: which groups.
    """
    findings: dict[str, Finding] = {}
    for number in range(cases):
        request = random_request((seed << 20) + number)
        for finding in broken_promises(strategy, request):
            if finding.property not in findings:
                small, message = _shrunk(strategy, request, finding)
                findings[finding.property] = Finding(finding.property, message, in_words(small))
    return list(findings.values())


def _shrunk(
    strategy: Assignor, request: AssignmentRequest, finding: Finding
) -> tuple[AssignmentRequest, str]:
    """A request that still breaks the promise and cannot be made smaller, and what is wrong."""
    message = finding.message
    going = True
    while going:
        going = False
        for smaller in _smaller(request):
            broken = {f.property: f.message for f in broken_promises(strategy, smaller)}
            if finding.property in broken:
                request, message, going = smaller, broken[finding.property], True
                break
    return request, message


def _smaller(request: AssignmentRequest) -> Iterator[AssignmentRequest]:
    """Requests with one thing less."""
    members = tuple(request.members)
    for index, member in enumerate(members):
        if len(members) > 1:
            yield replace(request, members=members[:index] + members[index + 1 :])
        for lighter in (
            replace(member, owned=(), previous=None, generation=-1),
            replace(member, instance_id=None),
            *(replace(member, topics=tuple(t for t in member.topics if t != topic))
              for topic in member.topics if len(member.topics) > 1),
        ):  # fmt: skip
            if lighter != member:
                yield replace(request, members=(*members[:index], lighter, *members[index + 1 :]))
    for name, topic in request.topics.items():
        if topic.partitions > 0:
            fewer = replace(
                topic, partitions=topic.partitions - 1, lag=topic.lag[: topic.partitions - 1]
            )
            yield replace(request, topics={**request.topics, name: fewer})


def in_words(request: AssignmentRequest) -> str:
    """The request in a few lines: topics with partitions, members with what they had."""
    topics = ", ".join(
        f"{name}({topic.partitions}{' lag ' + repr(list(topic.lag)) if any(topic.lag) else ''})"
        for name, topic in request.topics.items()
        if topic.partitions
    )
    lines = [f"topics: {topics or 'none'}"]
    for member in request.members:
        static = f" instance {member.instance_id}" if member.instance_id else ""
        had = " ".join(f"{topic}{list(parts)}" for topic, parts in member.owned)
        had = f" had {had}" if had else ""
        lines.append(f"{member.member_id}{static}: {', '.join(member.topics)}{had}")
    return "\n".join(lines)
