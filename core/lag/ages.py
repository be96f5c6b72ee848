"""How old the oldest unread record of a commit is, found by asking logs for offsets at times. Pure.

A log answers a time with its first offset that is not older (ListOffsets, which takes DESCRIBE
alone). A commit's next record is older than every time that is answered with a later offset, and
as old as or younger than every time that is answered with its own or an earlier one, as far as the
records' times are in order. So each answer narrows the ages that are possible, and halving them on
a logarithmic scale gives every age to the same relative precision in the same number of questions.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from kgroups.core.lag.window.unread import Place
from kgroups.core.snapshot import TopicPartition

YOUNGEST_MS: Final = 1.0
OLDEST_MS: Final = 50 * 366 * 86_400_000.0
PRECISE: Final = 1.01
"""An age is known when the highest possible one is this many times the lowest."""
CLOSE_MS: Final = 10.0
"""Or when they are this near to each other."""
QUESTIONS: Final = 12
"""For one commit of each partition: from a millisecond to 50 years, halved until it is precise."""
MOST_QUESTIONS: Final = 60
"""However many groups stand at different places of one partition; some ages stay unknown then."""


class _Bounds(NamedTuple):
    """Between which ages an age is, in milliseconds."""

    least: float
    most: float

    @property
    def is_known(self) -> bool:
        return self.most <= self.least * PRECISE or self.most - self.least <= CLOSE_MS

    @property
    def middle(self) -> float:
        return math.sqrt(self.least * self.most)


class AgeSearch:
    """The ages of records, narrowed down by answers of their logs.

    Args:
        places: of the records.
        now_ms: epoch milliseconds that ages are counted back from.
    """

    def __init__(self, places: Iterable[Place], now_ms: int) -> None:
        self._now_ms = now_ms
        self._bounds: dict[TopicPartition, dict[int, _Bounds]] = {}
        for topic, partition, offset in places:
            bounds = self._bounds.setdefault((topic, partition), {})
            bounds[offset] = _Bounds(YOUNGEST_MS, OLDEST_MS)

    def times(self) -> dict[TopicPartition, int]:
        """The time to ask each log for next; empty when there is nothing left to learn."""
        asked: dict[TopicPartition, int] = {}
        for at, places in self._bounds.items():
            widest = max(places.values(), key=lambda bounds: bounds.most / bounds.least)
            open_ = [bounds for bounds in places.values() if not bounds.is_known]
            if not open_:
                continue
            bounds = widest if not widest.is_known else open_[0]
            asked[at] = max(0, round(self._now_ms - bounds.middle))
        return asked

    def take(
        self,
        times: Mapping[TopicPartition, int],
        answers: Mapping[TopicPartition, int | str | None],
    ) -> None:
        """Narrow the ages by what logs answered.

        Args:
            times: what was asked.
            answers: the first offset that is not older; None where every record is older; an
                error's name, after which the log is asked no more.
        """
        for at, time_ms in times.items():
            offset = answers.get(at, "UNKNOWN_SERVER_ERROR")
            if isinstance(offset, str):
                del self._bounds[at]
                continue
            age = max(YOUNGEST_MS, float(self._now_ms - time_ms))
            for place, (least, most) in self._bounds[at].items():
                is_younger = offset is not None and offset <= place
                if is_younger and least < age < most:
                    self._bounds[at][place] = _Bounds(least, age)
                elif not is_younger and least < age < most:
                    self._bounds[at][place] = _Bounds(age, most)

    @property
    def ages_s(self) -> dict[Place, float]:
        """Seconds of the ages that are known by now."""
        return {
            (*at, offset): bounds.middle / 1_000
            for at, places in self._bounds.items()
            for offset, bounds in places.items()
            if bounds.is_known
        }
