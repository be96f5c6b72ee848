"""The groups that are written to, those that are not, and the state that every case begins with."""

import zlib
from collections.abc import Sequence
from typing import Final

from kgroups.core.snapshot import TopicPartition
from tests.support.chaos.state import Commit, Key, State, is_member, read_state
from tests.support.chaos.trio import Trio
from tests.support.chaos.works import CREW, FIRST, PARTITIONS, RECORD_LOGS, RECORDS, SECOND
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    end_offsets,
    produce,
)

BYSTANDERS: Final = 20
NOTE: Final = "noted"
RECORDS_EACH: Final = 60
AWAY_MS: Final = 1_500_000
HANDS: Final = 3
RECORD_COUNT: Final = 400


class World:
    """A cluster with groups whose commits differ, with notes that an undo has to bring back.

    Args:
        trio: the brokers.
        groups: how many are written to.
    """

    def __init__(self, trio: Trio, groups: int) -> None:
        self.trio = trio
        self.groups = [f"group-{number:03}" for number in range(groups)]
        self.others = [f"other-{number:02}" for number in range(BYSTANDERS)]
        create_topics(trio.bootstrap, {**PARTITIONS, RECORDS: RECORD_LOGS})
        trio.heal()
        produce(trio.bootstrap, {(RECORDS, n): RECORD_COUNT for n in range(RECORD_LOGS)})

    def state(self) -> State:
        """All that the cluster holds; every broker has to be well."""
        logs = [(RECORDS, number) for number in range(RECORD_LOGS)]
        return read_state(self.trio, logs, CREW)

    def prepare(self, *, with_crew: bool) -> State:
        """Let the groups stand where every case finds them; what the cluster holds then.

        Args:
            with_crew: members are there that have gone without leaving.
        """
        self.trio.heal()
        self._fill([FIRST, SECOND])  # one of them may have been made anew
        found = self.state()
        changed = self.put_back(self._base(), [*self.groups, *self.others], found)
        if with_crew and not any(is_member(key) for key in found):
            self._hire()
            changed = True
        return self.state() if changed else found

    def put_back(self, base: State, groups: Sequence[str], found: State | None = None) -> bool:
        """Commit what these groups had committed, where they have something else now.

        Args:
            base: their commits.
            found: what there is now; None if that is not known.
        Returns:
            Whether something was committed.
        """
        rows: dict[str, dict[TopicPartition, int]] = {}
        named = set(groups)
        for key, commit in base.items():
            if isinstance(commit, Commit) and key[0] in named:
                rows.setdefault(key[0], {})[key[1:]] = commit.offset
        if found is not None:
            wrong = {key[0] for key, commit in base.items() if found.get(key) != commit}
            rows = {group: own for group, own in rows.items() if group in wrong}
        commit_offsets(self.trio.bootstrap, rows, metadata=NOTE)
        return bool(rows)

    def _base(self) -> dict[Key, Commit]:
        """The commits of all groups at the start of a case."""
        return {
            (group, topic, number): Commit(
                10 + zlib.crc32(f"{group}/{topic}/{number}".encode()) % 30, -1, NOTE
            )
            for group in (*self.groups, *self.others)
            for topic, count in PARTITIONS.items()
            for number in range(count)
        }

    def _fill(self, topics: list[str]) -> None:
        wanted = {(topic, number): 0 for topic in topics for number in range(PARTITIONS[topic])}
        ends = end_offsets(self.trio.bootstrap, wanted)
        produce(self.trio.bootstrap, {at: RECORDS_EACH - ends[at] for at in wanted})

    def _hire(self) -> None:
        """Static members that close, and stay in the group as the broker sees it."""
        away = dict.fromkeys(("session.timeout.ms", "max.poll.interval.ms"), str(AWAY_MS))
        specs = [MemberSpec(f"hand-{n}", (FIRST,), f"hand-{n}", away) for n in range(HANDS)]
        with LiveGroup(self.trio.bootstrap, CREW, specs) as live:
            live.wait_stable(PARTITIONS[FIRST])

    def targets(self, copies: bool) -> list[str]:
        """The groups that a line writes to."""
        return [name.replace("group-", "copy-") if copies else name for name in self.groups]
