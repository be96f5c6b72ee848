"""Which topics a group reads, by the plans of its members."""

from functools import cache

from kgroups.core.patterns import compile_pattern
from kgroups.core.planning.topic_patterns import Matches, topic_matcher
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan


@cache
def _matcher(pattern: str, dialect: str) -> Matches:
    if dialect == "librdkafka":
        return topic_matcher(pattern, "librdkafka")
    return topic_matcher(pattern, "java") if dialect == "java" else compile_pattern(pattern)


def white_list(text: str) -> str:
    """The regular expression that a white list of Kafka 0.8.2 stands for: a comma is an `or`."""
    return text.strip().replace(",", "|").replace(" ", "").strip("\"'")


def pattern_matches(group: GroupPlan, plan: MemberPlan) -> Matches | None:
    """Whether a topic belongs to a member's pattern, in its dialect; None without a pattern.

    Raises:
        UsageError, PatternError: it is no pattern of that dialect.
    """
    if plan.pattern is None:
        return None
    if group.protocol == "zookeeper":
        return _matcher(white_list(plan.pattern), "java")
    return _matcher(plan.pattern, "re2" if group.protocol == "consumer" else plan.library)


def reads(group: GroupPlan, topic: str) -> bool:
    """Whether a member of the group subscribes to the topic."""
    for plan in group.members:
        if topic in plan.topics:
            return True
        matches = pattern_matches(group, plan)
        if matches is not None and matches(topic):
            return True
    return False
