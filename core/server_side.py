"""What a coordinator needs from outside the standard library: assignors, XXH3 and RE2.

`coordinator_ports` fills `core/coordinator/ports.py` for everybody who runs a coordinator: the
sandbox, the simulation and the tests.
"""

import base64
from collections.abc import Mapping
from uuid import UUID

import re2
import xxhash

from kgroups.assignors.server_ranges import ServerRangeAssignor
from kgroups.assignors.spec import AssignmentRequest, Assignor, MemberSubscription, TopicPartitions
from kgroups.assignors.uniform import UniformAssignor
from kgroups.core.coordinator.ports import (
    AssignableMember,
    AssignmentSpec,
    Matches,
    PatternError,
    Ports,
    ServerAssign,
)
from kgroups.core.coordinator.topology import TopicInfo

# What RE2/J, which a broker uses, says where the C++ library says something else.
JAVA_WORDS: Mapping[str, str] = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid escape sequence": "invalid escape sequence",
    "trailing \\": "trailing backslash at end of expression",
    "unexpected )": "unmatched or missing opening (",
}


def coordinator_ports() -> Ports:
    """Assignors `uniform` and `range`, XXH3 and RE2, as a coordinator calls them."""
    strategies: tuple[Assignor, ...] = (UniformAssignor(), ServerRangeAssignor())
    return Ports(
        assignors={strategy.name: _assign_with(strategy) for strategy in strategies},
        hash64=xxhash.xxh3_64_intdigest,
        compile_pattern=compile_pattern,
    )


def compile_pattern(pattern: str) -> Matches:
    """A test of whether a whole topic name matches an RE2 pattern.

    Raises:
        PatternError: it does not compile; the text is RE2/J's where we know it.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as broken:
        raw = broken.args[0] if broken.args else ""
        text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        problem, _, _ = text.partition(":")
        raise PatternError(JAVA_WORDS.get(problem, problem)) from broken

    def matches(name: str) -> bool:
        return compiled.fullmatch(name) is not None

    return matches


def topic_id_text(topic_id: UUID) -> str:
    """A topic id in Kafka's base64 form."""
    return base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


def _assign_with(strategy: Assignor) -> ServerAssign:
    def assign(spec: AssignmentSpec) -> Mapping[str, Mapping[UUID, frozenset[int]]]:
        names = {topic.topic_id: topic.name for topic in spec.topics.values()}
        request = AssignmentRequest(
            [_member(one, names) for one in spec.members],
            {name: _topic(topic) for name, topic in spec.topics.items()},
            options={"homogeneous": spec.homogeneous},
            faithful=True,
        )
        return {
            member_id: {
                spec.topics[name].topic_id: frozenset(partitions)
                for name, partitions in topics.items()
            }
            for member_id, topics in strategy.assign(request).items()
        }

    return assign


def _member(member: AssignableMember, names: Mapping[UUID, str]) -> MemberSubscription:
    # A topic that is gone keeps its place in what is owned, under its id.
    owned = [
        (names.get(topic_id, topic_id_text(topic_id)), sorted(partitions))
        for topic_id, partitions in member.target.items()
    ]
    return MemberSubscription(
        member.member_id,
        member.topic_names,
        member.instance_id,
        member.rack_id,
        owned=owned,
    )


def _topic(topic: TopicInfo) -> TopicPartitions:
    racks = [sorted(one) for one in topic.racks] if any(topic.racks) else []
    return TopicPartitions(topic.partitions, racks, topic_id=topic_id_text(topic.topic_id))
