"""The recorder of a run: rebalances with their causes, requests, the timeline.

Nothing here grows with virtual time but the list of rebalances, which is cut off at a length; the
timeline is handed on line by line.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.effects import Event, EventKind
from kgroups.core.coordinator.offsets.messages import OffsetCommitResponse
from kgroups.core.errors import counted
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.simulation.world.actors import Step
from kgroups.core.simulation.world.process import GroupState, Process
from kgroups.core.simulation.world.zookeeper_service import KINDS
from kgroups.core.zookeeper.protocol import Api

# More are counted, not listed.
MAX_REBALANCES: Final = 10_000

_MEMBER_ID: Final = re.compile(r"\S*[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

# Events of a coordinator in the field's words; those that are not named are left out.
_SHOWN: Final[Mapping[EventKind, str]] = {
    EventKind.GROUP_LOADED: "group loaded",
    EventKind.GROUP_UNLOADED: "group unloaded",
    EventKind.GROUP_CONVERTED: "group converted",
    EventKind.STATE_CHANGED: "group state",
    EventKind.MEMBER_ADDED: "member added",
    EventKind.MEMBER_REMOVED: "member removed",
    EventKind.MEMBER_REPLACED: "member replaced",
    EventKind.LEADER_ELECTED: "leader chosen",
    EventKind.PROTOCOL_CHOSEN: "assignor chosen",
    EventKind.EPOCH_BUMPED: "group epoch",
    EventKind.TARGET_COMPUTED: "target computed",
    EventKind.MEMBER_RECONCILED: "member reconciled",
}
# Successful ones are told of only where every request is asked for.
QUIET: Final = frozenset(
    {"Heartbeat", "OffsetCommit", "ConsumerGroupHeartbeat", *Api, *KINDS.values()}
)


class Line(NamedTuple):
    """One line of a timeline; times in virtual ms from the start of the run."""

    at_ms: int
    group: str
    who: str
    kind: str
    text: str


@dataclass(slots=True)
class Rebalance:
    """One rebalance of a group.

    Args:
        at_ms: when it began, from the start of the run.
        epoch: the generation, or group epoch, that it led to; None while it goes on.
        until_ms: when everybody was settled and everything owned again; None if never.
    """

    at_ms: int
    cause: str
    epoch: int | None = None
    until_ms: int | None = None


class Told:
    """The record of one group's run so far."""

    def __init__(self) -> None:
        self.rebalances: list[Rebalance] = []
        self.count = 0
        self.causes: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.epoch = 0
        self.came_or_went: Event | None = None
        self.open: list[Rebalance] = []


class Recorder:
    """Takes note of what happens in the groups of a run.

    Args:
        start_ms: virtual time of the run's start.

    Attributes:
        told: what each group's run has shown so far.
        tells_all: whether every request that was answered well makes a line.
    """

    def __init__(self, groups: Mapping[str, GroupState], start_ms: int) -> None:
        self.told = {name: Told() for name in groups}
        self._groups, self._start_ms = groups, start_ms
        self.tell(None, every_request=False)

    def tell(self, timeline: Callable[[Line], None] | None, *, every_request: bool) -> None:
        """Hand every line to `timeline` from now on; None: nobody looks.

        Args:
            every_request: tell of all heartbeats and commits that were answered well, too.
        """
        self._timeline, self._every_request = timeline, every_request
        self.tells_all = timeline is not None and every_request

    # ------------------------------------------------------------------ lines

    def line(self, now_ms: int, group: str, who: str, kind: str, text: str = "") -> None:
        """Add a line to the timeline."""
        if self._timeline is not None:
            self._timeline(Line(now_ms - self._start_ms, group, who, kind, text))

    def name_members(self, group: str, text: str) -> str:
        """The text with the members' names in place of their ids."""
        names = self._groups[group].names
        return _MEMBER_ID.sub(lambda match: names.get(match[0], match[0]), text)

    # ------------------------------------------------------------------ requests

    def answered(self, now_ms: int, process: Process, kind: str, response: object) -> None:
        """A member has its answer; None: its connection broke."""
        group = process.seat.group.name
        error = "NETWORK_EXCEPTION" if response is None else error_name(response)
        if error != "NONE":
            self.told[group].errors[f"{kind} {error}"] += 1
        if self._timeline is None:
            return
        # What is committed before partitions are given up tells where the next owner begins.
        quiet = kind in QUIET and not (kind == "OffsetCommit" and not process.consumer.settled)
        if error == "NONE" and quiet and not self._every_request:
            return
        text = f"answered {error}" if error != "NONE" else answer_text(response)
        self.line(now_ms, group, process.seat.name, kind, text)

    # ------------------------------------------------------------------ what machines tell

    def step(self, now_ms: int, process: Process, step: Step) -> None:
        """A consumer tells something."""
        group = process.seat.group.name
        record = self.told[group]
        if step.counts:
            record.counts.update(step.counts)
        if self._timeline is not None:
            text = self.name_members(group, step.text)
            self.line(now_ms, group, process.seat.name, step.kind, text)

    def event(self, now_ms: int, event: Event) -> None:
        """A coordinator tells something."""
        group = event.group_id
        if group not in self.told:
            return
        record, detail = self.told[group], event.detail
        if event.kind is EventKind.STATE_CHANGED and detail[1:] == ("PreparingRebalance",):
            self.begin_rebalance(now_ms, group, event.reason)
        elif event.kind is EventKind.STATE_CHANGED and event.reason.startswith("generation "):
            self._set_epoch(record, int(event.reason.removeprefix("generation ")))
        elif event.kind is EventKind.EPOCH_BUMPED:
            self.begin_rebalance(now_ms, group, cause_of_bump(event, record.came_or_went))
            # The event tells the epoch that was left.
            self._set_epoch(record, int(str(detail[0])) + 1)
        elif event.kind in (EventKind.MEMBER_ADDED, EventKind.MEMBER_REMOVED):
            record.came_or_went = event
        shown = _SHOWN.get(event.kind)
        if shown is not None and self._timeline is not None:
            facts = " -> ".join(str(fact) for fact in detail) if len(detail) == 2 else ""
            named = event.member_id or ""
            text = " ".join(part for part in (named, facts, event.reason) if part)
            self.line(now_ms, group, "coordinator", shown, self.name_members(group, text))

    def begin_rebalance(self, now_ms: int, group: str, cause: str) -> None:
        """A rebalance begins."""
        record = self.told[group]
        cause = self.name_members(group, cause)
        record.count += 1
        record.causes[cause] += 1
        began = Rebalance(now_ms - self._start_ms, cause)
        record.open.append(began)
        if len(record.rebalances) < MAX_REBALANCES:
            record.rebalances.append(began)

    def whole(self, now_ms: int, group: str) -> None:
        """Everybody is settled and everything owned: rebalances that were open are over."""
        record = self.told[group]
        for rebalance in record.open:
            rebalance.until_ms = now_ms - self._start_ms
        record.open.clear()

    def _set_epoch(self, record: Told, epoch: int) -> None:
        record.epoch = epoch
        for rebalance in record.open:
            if rebalance.epoch is None:
                rebalance.epoch = epoch


def cause_of_bump(bump: Event, before: Event | None) -> str:
    """Why a group epoch was bumped, with the member that came or went in the same step."""
    if before is None or before.at_ms != bump.at_ms:
        return bump.reason
    return f"{before.member_id} {before.reason}"


def error_name(response: Any) -> str:
    """The error of an answer by name; of several the first that is one."""
    code = getattr(response, "error_code", None)
    if code is NO_ERROR:
        return "NONE"
    if code is not None:
        return ErrorCode(code).name
    for key in ("topics", "groups", "coordinators"):
        for entry in getattr(response, key, ()):
            wrong = getattr(entry, "error_code", NO_ERROR)
            if wrong is not NO_ERROR:
                return ErrorCode(wrong).name
            for partition in getattr(entry, "partitions", ()):
                if partition.error_code is not NO_ERROR:
                    return ErrorCode(partition.error_code).name
    return "NONE"


def answer_text(response: Any) -> str:
    """A good answer in a few words."""
    parts = []
    if hasattr(response, "generation_id"):
        parts.append(f"generation {response.generation_id}")
        if response.members:
            parts.append(f"leader of {len(response.members)}")
    if hasattr(response, "member_epoch"):
        parts.append(f"epoch {response.member_epoch}")
        if response.assignment is not None:
            count = sum(len(topic.partitions) for topic in response.assignment)
            parts.append(counted(count, "partition"))
    if isinstance(response, OffsetCommitResponse):
        parts.append(counted(sum(len(topic.partitions) for topic in response.topics), "partition"))
    if hasattr(response, "coordinators"):
        parts.append(f"broker {response.coordinators[0].node_id}")
    return ", ".join(parts)
