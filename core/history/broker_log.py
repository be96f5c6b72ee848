"""Lines of brokers' logs about members: why they left, which records do not say.

A line is looked at only if it names one of the groups, and kept only if it is about a change that
is known, so that a log of any length takes no more memory than the history it explains. Source:
lines that brokers of Kafka 2.8 to 4.4 have written (`tests/data/broker_logs`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from statistics import median
from typing import Final, NamedTuple

from kgroups.core.history.changes import Certainty, Change
from kgroups.core.history.roster import Departure

_MEMBER: Final = (
    r"[Mm]ember ?(?:\[.*?member\.id |MemberMetadata\(memberId=|with id )?(?P<member>[^\s,\]]+)\]?"
)
_GROUP: Final = r"\[?(?P<group>.+?)\]?"
NUMBERED: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"Assignment received from leader (?:\S+ )?for group (?P<group>.+) for generation"
        r" (?P<number>\d+)",
        r"Group (?P<group>.+) with generation (?P<number>\d+) is now empty",
        r"\[GroupId (?P<group>.+?)\] Bumped group epoch to (?P<number>\d+)",
        r"Preparing to rebalance group (?P<group>.+) in state \w+ with old generation (?P<old>\d+)"
        r" (?:\(__consumer_offsets-\d+\) )?\(reason: (?P<reason>.*)\)\.?$",
    )
)
"""Lines that tell when a generation or an epoch began; or, before, why."""


class Saying(NamedTuple):
    """Reason in a line about a member: a cause; None where the reason in it tells."""

    cause: str | None
    pattern: re.Pattern[str]


def _saying(cause: str | None, pattern: str) -> Saying:
    return Saying(cause, re.compile(pattern.replace("MEMBER", _MEMBER).replace("GROUP", _GROUP)))


SAYINGS: Final = (
    _saying("session_timeout", r"MEMBER in group GROUP has failed, removing it"),
    _saying("session_timeout", r"\[GroupId GROUP\] MEMBER .*because the member session expired"),
    _saying("rebalance_timeout", r"\[GroupId GROUP\] MEMBER .*because (?:the member|it) failed to"),
    _saying(
        None, r"MEMBER.* has left group GROUP through explicit .*client reason: (?P<reason>.*)"
    ),
    _saying(None, r"\[Group GROUP\] MEMBER has left group .*client reason: (?P<reason>.*)"),
    _saying(None, r"MEMBER in group GROUP has left, removing it"),
    _saying(
        "static_return", r"of group GROUP with .*old member id (?P<member>\S+) will be removed"
    ),
    _saying("static_return", r"joins group GROUP in .* previously mapped member (?P<member>\S+)"),
    _saying(None, r"\[GroupId GROUP\] MEMBER left the consumer group"),
)
FENCED: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"Request memberId=(?P<member>\S+) for static member with groupInstanceId=(?P<instance>.+)"
        r" is fenced by (?:current|existing) memberId=",
        r"given member\.id (?P<member>\S+) is identified as a known static member (?P<instance>.+?)"
        r", ?but not matching the expected member\.id",
        r"\[GroupId (?P<group>.+?)\] Static member (?P<member>\S+) with instance id"
        r" (?P<instance>.+) (?:cannot join the group because the instance id is|is fenced by)",
    )
)
"""Lines about a member that goes on though another one has its instance id; some name no group."""
ELECTED: Final = re.compile(
    rb"(?:(?:Elected|Resigned) as the group coordinator for partition "
    rb"|Scheduling (?:un)?loading of metadata (?:from|for) __consumer_offsets-)"
    rb"(\d+) (?:in|with) epoch \D{0,12}(\d+)"
)
"""Lines about a partition whose leader coordinates from this epoch on, here or elsewhere."""
REASONS: Final[Mapping[str, str]] = {
    "poll timeout has expired": "poll_timeout",
    "removed by an admin": "removed_by_admin",
    "being closed": "member_closed",
    "unsubscribed from all topics": "member_closed",
    "metadata has changed": "topics_changed",
    "revoke": "second_round",
}
"""Parts of clients' reasons (KIP-800), and the cause of each."""
_TIME: Final = re.compile(rb"\[?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.](\d{3})\]?")
_LOGGER: Final = re.compile(r" \([\w.$]+\)\s*$")
LATE_MS, EARLY_MS = 5_000, 600_000
"""How long after a line, and before it, its change may be in the records."""
AGREE_MS: Final = 60_000
"""Most lines of a log agree on the difference of the clocks, or it is of another cluster."""
MOST_APART_MS: Final = 26 * 3_600_000
"""Between two time zones; a log whose clock is further apart is of another day."""
HOUR_MS: Final = 3_600_000


class Said(NamedTuple):
    """Entry of a log about a member, at a time of the log's clock."""

    at_ms: int
    cause: str | None
    reason: str | None


class Elections(NamedTuple):
    """Of the leader of a partition of `__consumer_offsets`, which coordinates its groups.

    Args:
        per_hour: within one hour, at the most.
        last_ms: of the records' clock; None: the difference of the clocks is unknown.
    """

    per_hour: int
    last_ms: int | None


class BrokerLog:
    """Takes the lines of one log: what it says of these changes.

    Args:
        epochs: of the leaders of partitions of `__consumer_offsets`, now; None: not known.
    """

    def __init__(
        self,
        changes: Mapping[str, Sequence[Change]],
        epochs: Mapping[int, int | None] | None = None,
    ) -> None:
        self._epochs = epochs or {}
        self._elected: dict[int, dict[int, int]] = {number: {} for number in self._epochs}
        self._matched = 0
        self._names = [name.encode() for name in changes]
        self._numbers = {
            (name, change.number): change.at_ms
            for name, own in changes.items()
            for change in own
            if change.kind == "rebalance"
        }
        self._members = {
            (name, gone.seat.member_id)
            for name, own in changes.items()
            for change in own
            for gone in change.members.gone
        }
        self._groups = {
            seat.member_id: name
            for name, own in changes.items()
            for change in own
            for seat in (*change.members.came, *(gone.seat for gone in change.members.gone))
            if seat.instance_id is not None
        }
        self._fenced: dict[tuple[str, str], set[str]] = {}
        self._apart: list[int] = []
        self._agreed: tuple[int, int | None] = (0, None)
        self._said: dict[tuple[str, str], list[Said]] = {}
        self._reasons: dict[tuple[str, int], str] = {}

    def take(self, line: bytes) -> None:
        """The next line."""
        if b"tatic member" in line:
            self._fence(line.decode(errors="replace"))
        if b"roup" not in line:
            return
        elected = ELECTED.search(line) if self._epochs and b" epoch " in line else None
        if elected is None and not any(name in line for name in self._names):
            return
        time = _TIME.match(line)
        if time is None:
            return
        moment = datetime.fromisoformat(time[1].decode()).replace(tzinfo=UTC)
        at_ms = int(moment.timestamp()) * 1000 + int(time[2])
        if elected is not None:
            number, epoch = map(int, elected.groups())
            if epoch and number in self._elected:  # the first one is of a new topic
                self._elected[number].setdefault(epoch, at_ms)
            return
        text = _LOGGER.sub("", line[time.end() :].decode(errors="replace").rstrip())
        self._number(at_ms, text)
        self._member(at_ms, text)

    @property
    def matched(self) -> int:
        """How many lines are about the changes, or about elections."""
        elected = sum(len(self.elected(number)) for number in self._elected)
        return 0 if self._is_foreign else self._matched + elected

    @property
    def apart_ms(self) -> int | None:
        """How far its times are ahead of the records', its zone included; None: unknown."""
        if self._agreed[0] != len(self._apart):
            middle = round(median(self._apart))
            near = sum(abs(offset_ms - middle) <= AGREE_MS for offset_ms in self._apart)
            agree = 2 * near > len(self._apart) and abs(middle) <= MOST_APART_MS
            self._agreed = (len(self._apart), middle if agree else None)
        return self._agreed[1]

    @property
    def _is_foreign(self) -> bool:
        """Whether it is about groups of the same names, at another time or in another cluster."""
        return bool(self._apart) and self.apart_ms is None

    @property
    def fenced(self) -> Mapping[tuple[str, str], set[str]]:
        """By group and instance id, members that went on under it though another one had it."""
        return {} if self._is_foreign else self._fenced

    def elected(self, partition: int) -> Mapping[int, int]:
        """Leader epochs of a partition, and when they began by the log's clock.

        Every cluster has these partitions: a log that tells nothing else counts if it tells of the
        leader that is there now.
        """
        epochs = self._elected.get(partition, {})
        is_ours = self.apart_ms is not None or self._epochs.get(partition) in epochs
        return epochs if is_ours and not self._is_foreign else {}

    def reason_of(self, group: str, number: int | None) -> str | None:
        """Why the broker began this generation."""
        return None if number is None or self._is_foreign else self._reasons.get((group, number))

    def of_member(self, group: str, member: str, at_ms: int) -> Said | None:
        """Line about a member who was gone at this time of the records."""
        said = [] if self._is_foreign else self._said.get((group, member), [])
        if self.apart_ms is None:
            return said[-1] if len(said) == 1 else None
        limit = at_ms + self.apart_ms
        at = bisect_right(said, limit + LATE_MS, key=lambda saying: saying.at_ms) - 1
        return said[at] if at >= 0 and said[at].at_ms >= limit - EARLY_MS else None

    def _number(self, at_ms: int, text: str) -> None:
        for pattern in NUMBERED:
            match = pattern.search(text)
            if match is None:
                continue
            named = match.groupdict()
            if "old" in named:
                key = (named["group"], int(named["old"]) + 1)
                if key in self._numbers:
                    self._reasons[key] = named["reason"]
                    self._matched += 1
                return
            then_ms = self._numbers.get((named["group"], int(named["number"])))
            if then_ms is not None:
                self._apart.append(at_ms - then_ms)
                self._matched += 1
            return

    def _fence(self, text: str) -> None:
        match = next(filter(None, (pattern.search(text) for pattern in FENCED)), None)
        if match is None:
            return
        named = match.groupdict()
        group = named.get("group") or self._groups.get(named["member"])
        if group is not None and group.encode() in self._names:
            self._fenced.setdefault((group, named["instance"]), set()).add(named["member"])
            self._matched += 1

    def _member(self, at_ms: int, text: str) -> None:
        for saying in SAYINGS:
            match = saying.pattern.search(text)
            if match is None:
                continue
            named = match.groupdict()
            key = (named["group"], named["member"])
            if key in self._members:
                reason = named.get("reason")
                cause = saying.cause or _cause_of(reason)
                self._said.setdefault(key, []).append(Said(at_ms, cause, reason))
                self._matched += 1
            return


def _cause_of(reason: str | None) -> str | None:
    return next((cause for part, cause in REASONS.items() if part in (reason or "")), None)


def with_logs(
    group: str, changes: Iterable[Change], logs: Sequence[BrokerLog]
) -> tuple[Change, ...]:
    """The changes with what logs say of them: reasons, and causes that they make certain."""
    return tuple(_with_logs(group, change, logs) for change in changes)


def fenced_members(group: str, logs: Iterable[BrokerLog]) -> dict[str, int]:
    """By instance id, how many members of a group logs say were fenced for it."""
    fenced: dict[str, set[str]] = {}
    for log in logs:
        for (name, instance), members in log.fenced.items():
            if name == group:
                fenced.setdefault(instance, set()).update(members)
    return {instance: len(members) for instance, members in fenced.items()}


def elections(partition: int, logs: Iterable[BrokerLog], since_ms: int) -> Elections | None:
    """Of the leader of a partition since then; None if logs tell of none."""
    times: dict[int, int] = {}
    is_dated = True
    for log in logs:
        for epoch, at_ms in log.elected(partition).items():
            times.setdefault(epoch, at_ms - (log.apart_ms or 0))
            is_dated = is_dated and log.apart_ms is not None
    elected = sorted(at_ms for at_ms in times.values() if at_ms >= since_ms)
    if not elected:
        return None
    most = max(bisect_right(elected, at_ms + HOUR_MS) - n for n, at_ms in enumerate(elected))
    return Elections(most, elected[-1] if is_dated else None)


def _with_logs(group: str, change: Change, logs: Sequence[BrokerLog]) -> Change:
    causes: list[str] = []

    def explained(gone: Departure) -> Departure:
        for log in logs:
            said = log.of_member(group, gone.seat.member_id, change.at_ms)
            if said is not None:
                causes.extend([said.cause] if said.cause else [])
                return gone._replace(reason=said.reason)
        return gone

    members = change.members._replace(
        left=tuple(map(explained, change.members.left)),
        replaced=tuple(pair._replace(old=explained(pair.old)) for pair in change.members.replaced),
    )
    reason = next(filter(None, (log.reason_of(group, change.number) for log in logs)), None)
    if change.kind == "rebalance" and not (members.gone or members.came):
        causes.extend(filter(None, [_cause_of(reason)]))
    cause: str | None = causes[0] if causes and change.cause != "deploy" else change.cause
    certainty: Certainty | None = "certain" if causes and cause in causes else change.certainty
    shown = reason if change.kind == "rebalance" else None
    return replace(change, members=members, reason=shown, cause=cause, certainty=certainty)
