"""Which topics a group reads, and with which assignors, by the plans of its members."""

from functools import cache
from typing import Final

from kgroups.core.patterns import compile_pattern
from kgroups.core.planning.topic_patterns import Matches, topic_matcher
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.scenario.scenario_model import (
    GroupPlan,
    MemberPlan,
    Scenario,
    TopicPlan,
)

COOPERATIVE: Final = "cooperative-sticky"


def offered(group: GroupPlan, plan: MemberPlan) -> tuple[str, ...]:
    """Assignors that a member of a classic group offers, in order of preference."""
    if plan.settings.assignors:
        return plan.settings.assignors
    return (COOPERATIVE,) if group.protocol == "cooperative" else LIBRARIES[plan.library].eager


@cache
def _matcher(pattern: str, dialect: str) -> Matches:
    if dialect == "librdkafka":
        return topic_matcher(pattern, "librdkafka")
    return compile_pattern(pattern) if dialect == "re2" else topic_matcher(pattern, "java")


def white_list(text: str) -> str:
    """The regular expression that a white list of Kafka 0.8.2 stands for: a comma is an `or`."""
    return text.strip().replace(",", "|").replace(" ", "").strip("\"'")


OFFSETS_TOPIC: Final = "__consumer_offsets"
# What `exclude.internal.topics` keeps from patterns.
INTERNAL: Final = frozenset({OFFSETS_TOPIC, "__transaction_state", "__share_group_state"})


def pattern_matches(group: GroupPlan, plan: MemberPlan) -> Matches | None:
    """Whether a topic belongs to a member's pattern, in its dialect; None without a pattern.

    Raises:
        UsageError, PatternError: it is no pattern of that dialect.
    """
    if plan.pattern is None:
        return None
    if group.protocol == "consumer":
        return _matcher(plan.pattern, "re2")
    if group.protocol == "zookeeper":
        matches = _matcher(white_list(plan.pattern), "java")
    else:
        matches = _matcher(plan.pattern, plan.library)
    if not plan.settings.exclude_internal_topics:
        return matches
    return lambda topic: topic not in INTERNAL and matches(topic)


def reads(group: GroupPlan, topic: str) -> bool:
    """Whether a member of the group subscribes to the topic."""
    for plan in (*group.members, *group.templates):
        if topic in plan.topics:
            return True
        matches = pattern_matches(group, plan)
        if matches is not None and matches(topic):
            return True
    return False


def all_topics(scenario: Scenario) -> tuple[TopicPlan, ...]:
    """The scenario's topics, and `__consumer_offsets`, without records, where a pattern matches it.

    It is there in every cluster, but costs a run nothing where nobody reads it.
    """
    named = any(topic.name == OFFSETS_TOPIC for topic in scenario.topics)
    if named or not any(reads(group, OFFSETS_TOPIC) for group in scenario.groups):
        return scenario.topics
    return (*scenario.topics, TopicPlan(OFFSETS_TOPIC, scenario.cluster.offsets_partitions))
