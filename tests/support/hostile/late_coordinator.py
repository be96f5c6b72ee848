"""A coordinator that has just taken over, as Kafka 4 has it: readers see what was committed before.

It answers readers as of an older state until somebody has waited for it: an OffsetFetch with
`require_stable`. Source: GroupCoordinatorService, CoordinatorRuntime.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tests.support.hostile.tampering import Conduct, Wire, rewritten

Commits = Mapping[str, Mapping[int, int]]
_COORDINATOR_NOT_AVAILABLE = 15
_GROUP_ID_NOT_FOUND = 69


class LateCoordinator:
    """Conducts of a proxy before an embedded cluster.

    Args:
        older: the groups that there were, with what they had committed: topic to partition to
            offset.
        refusals: how often whoever waits is told to come again, as after the broker's own time.
    """

    def __init__(self, older: Mapping[str, Commits], refusals: int = 0) -> None:
        self._older = older
        self._refusals = refusals
        self.is_settled = False

    @property
    def conducts(self) -> dict[str, Conduct]:
        """By the API that they change answers of."""
        changes: dict[str, Callable[[dict[str, Any]], None]] = {
            "describe_groups": self._describe,
            "list_groups": self._list,
        }
        return {"offset_fetch": self._fetch} | {
            api: self._reader(change) for api, change in changes.items()
        }

    def _reader(self, change: Callable[[dict[str, Any]], None]) -> Conduct:
        async def conduct(wire: Wire) -> None:
            wire.send(wire.frame if self.is_settled else rewritten(wire, change))

        return conduct

    async def _fetch(self, wire: Wire) -> None:
        if wire.settles:
            self._refusals -= 1
            self.is_settled = self._refusals < 0
            wire.send(wire.frame if self.is_settled else rewritten(wire, self._refuse))
        else:
            await self._reader(self._recall)(wire)

    def _refuse(self, body: dict[str, Any]) -> None:
        for group in body["groups"]:
            group.update(topics=[], error_code=_COORDINATOR_NOT_AVAILABLE)

    def _recall(self, body: dict[str, Any]) -> None:
        for group in body["groups"]:
            group["topics"] = [
                {
                    "name": topic,
                    "partitions": [
                        {
                            "partition_index": number,
                            "committed_offset": offset,
                            "committed_leader_epoch": -1,
                            "metadata": "",
                            "error_code": 0,
                        }
                        for number, offset in commits.items()
                    ],
                }
                for topic, commits in self._older.get(group["group_id"], {}).items()
            ]

    def _describe(self, body: dict[str, Any]) -> None:
        for group in body["groups"]:
            if group["group_id"] not in self._older:
                group.update(error_code=_GROUP_ID_NOT_FOUND, group_state="Dead", members=[])

    def _list(self, body: dict[str, Any]) -> None:
        body["groups"] = [group for group in body["groups"] if group["group_id"] in self._older]
