"""Ids of members that often share a bucket of a hash table, as few of those drawn freely do."""

import random
from uuid import UUID

from kgroups.core.planning.outcomes.ids import bucket, classic_id
from kgroups.core.uuids import uuid_text

CAPACITY = 16


class CrowdedIds:
    """Ids with buckets of their own choice, the first and the last one of the table among them.

    Args:
        dice: where they come from.
        crowds: how many buckets there are for all of them.
    """

    def __init__(self, dice: random.Random, crowds: int = 2) -> None:
        self._dice = dice
        edges = [0, CAPACITY - 1, *dice.sample(range(CAPACITY), crowds)]
        self.buckets = frozenset(dice.sample(edges, crowds))

    def kip848(self) -> str:
        """As KIP-848 members draw theirs."""
        return self._drawn(None)

    def classic(self, client_id: str) -> str:
        """As coordinators draw them for classic members."""
        return self._drawn(client_id)

    def _drawn(self, prefix: str | None) -> str:
        while True:
            drawn = UUID(int=self._dice.getrandbits(128), version=4)
            found = uuid_text(drawn) if prefix is None else classic_id(prefix, drawn)
            if bucket(found, CAPACITY) in self.buckets:
                return found
