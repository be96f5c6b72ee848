"""A storm played again: with what its client is set to, and with what would end it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from kgroups.core.coordinator.config import HEARTBEAT_INTERVAL, SESSION_TIMEOUT
from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Finding, Proof
from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.live.from_group import scenario_of_group
from kgroups.core.simulation.scenario.scenario_events import (
    Crash,
    Pause,
    Poison,
    RollingRestart,
    ScenarioEvent,
    Scheduled,
)
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, Scenario

FIRST_MS: Final = 60_000
"""By then the simulated group has settled; after each absence it has as long."""
MOST: Final = 10
"""Absences that are played."""
LONGEST_MS: Final = 1_200_000
"""Of an absence: brokers allow sessions of half as long again."""
STEP_MS: Final = 15_000
"""Advised timeouts are multiples of it, and half as long again as the longest absence."""


class Absence(NamedTuple):
    """A client that its group had to do without.

    Args:
        kind: `pauses`, `polls` that took too long, `crashes` or `restarts` of its process.
        ms: until it was back.
        limit_ms: the timeout that it exceeded.
    """

    kind: str
    ms: int
    limit_ms: int


def storm_proof(facts: DoctorFacts, finding: Finding, watch: Callable[[], None]) -> Finding:
    """The finding with the rebalances that the same absences make now, and after a change.

    Raises:
        KgroupsError: the group cannot be simulated.
    """
    cause, client = str(finding.evidence["cause"]), finding.where.get("client_id")
    absences = list(_absences(facts, cause, client))[-MOST:]
    if not absences:
        return finding
    kind, longest_ms = absences[-1].kind, max(absence.ms for absence in absences)
    played = [absence._replace(kind=kind) for absence in absences]
    now = _scenario(facts, client, played)
    longer_ms = -(-3 * longest_ms // 2 // STEP_MS) * STEP_MS
    changed, change = _changed(now, played[0], longer_ms)
    before, after = (_figures(scenario, watch) for scenario in (now, changed))
    assumes = f"{len(absences)} {kind} of up to {longest_ms / 1_000:g}s"
    proof = Proof(change, "simulation", before, after, assumes)
    is_own = change.startswith(SESSION_TIMEOUT)  # of the group: one can set it from here
    next_ = (
        f"kgroups config {facts.word} --set {change}"
        if is_own
        else f"kgroups explain {change.partition('=')[0].partition(' ')[0]}"
    )
    return replace(finding, proof=proof, next=next_)


def _absences(facts: DoctorFacts, cause: str, client: object) -> Iterator[Absence]:
    """Those of a client by this cause, in order.

    One that is back before its session ends is another process, as after a crash.
    """
    came_ms: int | None = None
    gone: Absence | None = None
    gone_ms = 0
    for change in facts.changes or ():
        seats = [gone.seat for gone in change.members.gone if gone.seat.client_id == client]
        is_back = any(seat.client_id == client for seat in change.members.came)
        if seats and change.cause == cause:
            limit_ms = seats[0].session_timeout_ms or _group_session_ms(facts)
            if cause == "poll_timeout":
                limit_ms = seats[0].rebalance_timeout_ms
            gone, gone_ms = None, change.at_ms
            if cause == "restart":
                gone = Absence("restarts", 0, 0)
            elif limit_ms is not None and cause in KINDS:
                gone = Absence(KINDS[cause], limit_ms, limit_ms)
            since_ms = None if came_ms is None else change.at_ms - came_ms
            if gone and cause == "session_timeout" and since_ms and since_ms < gone.limit_ms:
                yield Absence("crashes", gone.limit_ms - since_ms, gone.limit_ms)
                gone = None
        if is_back:
            came_ms = change.at_ms if gone is None else None
            if gone is not None:
                ms = gone.ms + max(1_000, change.at_ms - gone_ms)
                if ms <= LONGEST_MS:
                    yield gone._replace(ms=ms)
            gone = None


def _group_session_ms(facts: DoctorFacts) -> int | None:
    """The session timeout of all members of a KIP-848 group; None if it is not known."""
    own = {} if facts.settings is None else facts.settings.own
    text = own[SESSION_TIMEOUT].value if SESSION_TIMEOUT in own else None
    return None if text is None else int(text)


KINDS: Final = {"poll_timeout": "polls", "session_timeout": "pauses"}
"""Absences by the cause of the rebalances that they make."""


def _scenario(facts: DoctorFacts, client: object, absences: Sequence[Absence]) -> Scenario:
    """The group with a few records, and a member that is absent as it was.

    Raises:
        KgroupsError: the group cannot be simulated.
    """
    scenario = scenario_of_group(facts.snapshot, facts.name)
    (group,) = scenario.groups
    first = absences[0]
    who = next((member.name for member in group.members if member.client_id == client), None)
    if who is None:  # it is absent now
        who = str(client)
        away = replace(group.members[0], name=who, client_id=who, instance_id=None)
        group = replace(group, members=(*group.members, away))
    events: list[Scheduled] = []
    at_ms = FIRST_MS
    for absence in absences:
        events.append(Scheduled(_event(group.name, who, absence), at_ms=at_ms))
        at_ms += absence.ms + absence.limit_ms + FIRST_MS
    group = _limited(group, first, first.limit_ms) if first.limit_ms else group
    few = tuple(replace(topic, rate=1.0, backlog=0, backlogs=()) for topic in scenario.topics)
    cluster = replace(
        scenario.cluster,
        classic_min_session_timeout_ms=1,
        consumer_min_session_timeout_ms=1,
        consumer_min_heartbeat_interval_ms=1,
    )
    return replace(scenario, topics=few, groups=(group,), events=tuple(events), cluster=cluster)


def _event(group: str, who: str, absence: Absence) -> ScenarioEvent:
    ms = absence.ms
    if absence.kind == "polls":
        return Poison(group=group, member=who, for_ms=ms)
    if absence.kind == "pauses":
        return Pause(group=group, member=who, for_ms=ms)
    if absence.kind == "crashes":
        return Crash(group, who, restart_after_ms=ms)
    return RollingRestart(group, (who,), down_ms=ms)


def _limited(group: GroupPlan, absence: Absence, limit_ms: int) -> GroupPlan:
    """The group with another value of the timeout that matters to an absence."""
    if absence.kind == "polls":
        return _with(group, max_poll_interval_ms=limit_ms)
    beat_ms = min(3_000, limit_ms // 3)
    if group.protocol == "consumer":  # the brokers decide
        config = {SESSION_TIMEOUT: str(limit_ms), HEARTBEAT_INTERVAL: str(beat_ms)}
        return replace(group, config={**group.config, **config})
    return _with(group, session_timeout_ms=limit_ms, heartbeat_interval_ms=beat_ms)


def _changed(scenario: Scenario, absence: Absence, longer_ms: int) -> tuple[Scenario, str]:
    """The same with what would end the storm, and what that is."""
    (group,) = scenario.groups
    words: list[str] = []
    if absence.kind in ("crashes", "restarts"):
        words.append("group.instance.id")
        members = tuple(replace(member, instance_id=member.name) for member in group.members)
        group = replace(group, members=members)
    if absence.kind != "restarts" and longer_ms > absence.limit_ms:
        name = "max.poll.interval.ms" if absence.kind == "polls" else "session.timeout.ms"
        if name == "session.timeout.ms" and group.protocol == "consumer":
            name = SESSION_TIMEOUT
        words.append(f"{name}={longer_ms}")
        group = _limited(group, absence, longer_ms)
    return replace(scenario, groups=(group,)), " and ".join(words)


def _with(group: GroupPlan, **settings: Any) -> GroupPlan:
    """The group, its members with these settings."""
    members = tuple(
        replace(member, settings=replace(member.settings, **settings)) for member in group.members
    )
    return replace(group, members=members)


def _figures(scenario: Scenario, watch: Callable[[], None]) -> Mapping[str, float]:
    """Figures of the simulated absences, by name."""
    (group,) = simulate(scenario, seed=1, watch=watch).groups
    return {
        "rebalances": sum(rebalance.at_ms >= FIRST_MS for rebalance in group.rebalances),
        "longest_stop_seconds": round(max(o.longest_stop_ms for o in group.members) / 1_000, 1),
    }
