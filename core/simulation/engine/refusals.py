"""Parameters that cannot work, refused before a run as the client or the broker would refuse them.

The broker is asked: a real coordinator with the scenario's settings gets each member's first
request, and its answer is what is told.
"""

from collections.abc import Iterator
from itertools import chain, count
from typing import Any
from uuid import UUID

from kgroups.core.coordinator.config import (
    HEARTBEAT_INTERVAL,
    SESSION_TIMEOUT,
    CoordinatorConfig,
    wrong_settings,
)
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.effects import Reply
from kgroups.core.coordinator.topology import Topology
from kgroups.core.errors import KgroupsError, PatternError
from kgroups.core.input_files.document import Document
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.simulation.scenario.contradictions import (
    INVALID,
    Contradiction,
    contradictions,
    deployed,
    in_deploy,
    of_member,
)
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan, Scenario
from kgroups.core.simulation.scenario.subscriptions import pattern_matches
from kgroups.core.simulation.world.actors import Ask
from kgroups.core.simulation.world.member_kinds import make_consumer

# The property that an answer's error is about.
BLAMED = {
    ErrorCode.INVALID_SESSION_TIMEOUT: "session.timeout.ms",
    ErrorCode.UNSUPPORTED_ASSIGNOR: "group.remote.assignor",
    ErrorCode.INVALID_REGULAR_EXPRESSION: "pattern",
}
NEW_MEMBER = frozenset({ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED})


def check_scenario(scenario: Scenario, document: Document | None = None) -> None:
    """Nothing, if the scenario can happen and every member may join.

    Args:
        document: the file that it is from, so that a complaint names the line.

    Raises:
        UsageError: a parameter is impossible; `code` is Kafka's name of the error.
    """
    problem = next(chain(_of_cluster(scenario.cluster), contradictions(scenario)), None)
    if problem is not None:
        raise problem.error(document)
    for group in scenario.groups:
        seen: set[tuple[object, ...]] = set()
        for plan in group.members:
            kind = (plan.settings, plan.library, plan.topics, plan.pattern)
            if kind not in seen:
                seen.add(kind)
                wrong = _refusal(scenario, group, plan)
                if wrong is not None:
                    raise wrong.error(document)
    for number, group, plan in deployed(scenario):
        wrong = _refusal(scenario, group, plan)
        if wrong is not None:
            raise in_deploy(number, wrong).error(document)


def _of_cluster(config: CoordinatorConfig) -> Iterator[Contradiction]:
    """A broker starts only if its own settings obey the bounds that it puts to groups'."""
    own = {
        SESSION_TIMEOUT: str(config.consumer_session_timeout_ms),
        HEARTBEAT_INTERVAL: str(config.consumer_heartbeat_interval_ms),
    }
    for wrong in wrong_settings(own, config):
        what = wrong.what.replace("`consumer.", "`group.consumer.")
        hint = "a broker would not start" + (f"; {wrong.hint}" if wrong.hint else "")
        yield Contradiction("the cluster", what, (("cluster",),), hint, INVALID)


def _refusal(scenario: Scenario, group: GroupPlan, plan: MemberPlan) -> Contradiction | None:
    """Why its client or the broker refuses a member; None if they do not."""
    try:
        pattern_matches(group, plan)
        if plan.assign:
            return None  # who joins no group is refused by none
        if group.protocol == "zookeeper":
            return None  # ZooKeeper refuses nobody: it grants the session timeout that it can
        answer = _first_answer(scenario, group, plan)
    except PatternError as broken:
        what = f"the pattern `{plan.pattern}` does not compile: {broken}"
        code = ErrorCode.INVALID_REGULAR_EXPRESSION.name
        return of_member(group, plan, "pattern", what, code=code)
    except KgroupsError as broken:
        return of_member(group, plan, "pattern", broken.message, hint=broken.hint)
    error = ErrorCode.NONE if answer is None else ErrorCode(answer.error_code)
    if error in NEW_MEMBER:
        return None
    said = getattr(answer, "error_message", None)
    what = f"the broker rejects it with {error.name}" + (f": {said}" if said else "")
    hint = _hint(error, scenario.cluster)
    return of_member(group, plan, BLAMED.get(error, ""), what, hint=hint, code=error.name)


def _hint(error: ErrorCode, config: CoordinatorConfig) -> str | None:
    if error is ErrorCode.INVALID_SESSION_TIMEOUT:
        return (
            "`session.timeout.ms` must be between `group.min.session.timeout.ms` "
            f"({config.classic_min_session_timeout_ms}) and `group.max.session.timeout.ms` "
            f"({config.classic_max_session_timeout_ms}) of `cluster`"
        )
    if error is ErrorCode.UNSUPPORTED_ASSIGNOR:
        return f"server-side assignors: {', '.join(config.consumer_assignors)}"
    return None


def _first_answer(scenario: Scenario, group: GroupPlan, plan: MemberPlan) -> Any:
    """The coordinator's answer to the first request by which the member joins; None: it waits."""
    numbers = count(1)
    topology = Topology()

    def new_id() -> UUID:
        return UUID(int=next(numbers))

    coordinator = Coordinator(scenario.cluster, topology, new_id, now_ms=1)
    consumer = make_consumer(group, plan, "probe", lambda partitions: {}, new_id)
    consumer.start(1, topology)
    consumer.poll(1)
    for _ in range(4):
        for output in consumer.take():
            if not isinstance(output, Ask):
                continue
            coordinator.submit(1, output.token, output.request)  # type: ignore[arg-type]
            coordinator.advance(1)
            replies = (effect for effect in coordinator.take() if isinstance(effect, Reply))
            reply = next(replies, None)
            if reply is None:
                return None
            if output.kind != "FindCoordinator":
                return reply.response
            consumer.answer(1, output.token, _here(reply.response))
    return None


def _here(response: Any) -> Any:
    """The answer to FindCoordinator, as if this coordinator had been found."""
    (coordinator,) = response.coordinators
    here = coordinator._replace(node_id=0, host="probe", port=9092, error_code=ErrorCode.NONE)
    return type(response)((here,))
