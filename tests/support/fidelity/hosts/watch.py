"""What a member gets, gives up and reads, told as it happens; and the time that it takes for it."""

import json
import queue
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.support.fidelity.hosts.settings import driven_settings

Place = tuple[str, int]


def print_line(value: Mapping[str, Any]) -> None:
    """One line of JSON, written at once: lines of several threads do not mix."""
    print(json.dumps(value) + "\n", end="", flush=True)


class Watch:
    """Of one member.

    Args:
        asked: its name, and `watch`: `settings` by Java's names, `record_ms`, `listener_ms`,
            `commits` (after each poll). Without it: the settings that every driven member has; it
            tells nothing, and commits nothing.
        rest: lets so many seconds pass.

    Attributes:
        slow_ms: its next records take so much longer.
        sync: whether it waits for what it commits.
        wishes: what its application does with its consumer before it polls again.
        store: folder in which its group keeps offsets outside Kafka; None if it does not.
        room: how many records a poll gives at most; None: the library's default.
    """

    def __init__(self, asked: Mapping[str, Any], rest: Callable[[float], None]) -> None:
        self._tells = "watch" in asked
        watch = asked.get("watch", {})
        self._name, self._rest = asked["name"], rest
        given = watch["settings"] if self._tells else driven_settings(asked)
        self.settings: Mapping[str, Any] = given
        self.commits: bool = watch.get("commits", False)
        self.sync: bool = watch.get("sync", False)
        self.wishes: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._record_ms = watch.get("record_ms", 0)
        self._listener_ms = watch.get("listener_ms", 0)
        self.slow_ms = 0
        self.store = Path(watch["store"]) if watch.get("store") else None
        self.room: int | None = watch.get("room")
        self._held: set[Place] = set()

    def got(self, partitions: Iterable[Place]) -> None:
        """The listener's call; takes its time."""
        found = list(partitions)
        self._held.update(found)
        self._tell("got", found)
        self.listen(found)

    def gave(self, partitions: Iterable[Place]) -> None:
        """The same of partitions that are given up, told when the call is over."""
        found = list(partitions)
        self._held.difference_update(found)
        self.listen(found)
        self._tell("gave", found)

    def lost(self, partitions: Iterable[Place]) -> None:
        """The same of partitions that are another's already, which takes no time."""
        found = list(partitions)
        self._held.difference_update(found)
        self._tell("gave", found)

    def left(self) -> None:
        """It has unsubscribed: what the library did not call the listener for is given up too."""
        if self._held:
            self.gave(sorted(self._held))

    def stored(self, place: Place) -> int | None:
        """The next offset to read, by what the group keeps outside Kafka."""
        if self.store is None:
            return None
        file = self.store / f"{place[0]}-{place[1]}"
        return int(file.read_text()) if file.exists() else None

    def listen(self, partitions: list[Place]) -> None:
        """The time that the listener takes."""
        if partitions and self._listener_ms:
            self._rest(self._listener_ms / 1_000)

    def read(self, ranges: Iterable[tuple[str, int, int, int]]) -> float:
        """Records were handed over; how many seconds it takes to process them."""
        found = list(ranges)
        self._tell("read", found)
        takes_ms = self.slow_ms + sum((end - begin) * self._record_ms for *_, begin, end in found)
        self.slow_ms = 0
        return float(takes_ms / 1_000)

    def keep(self, ranges: Iterable[tuple[str, int, int, int]]) -> None:
        """Records were processed: their offsets are kept outside Kafka, where its group does so."""
        if self.store is None:
            return
        for topic, number, _, end in ranges:
            fresh = self.store / f"{topic}-{number}.{self._name.replace('/', '-')}"
            fresh.write_text(str(end))
            fresh.rename(self.store / f"{topic}-{number}")

    def _tell(self, event: str, partitions: list[Any]) -> None:
        if not self._tells:
            return
        at_ms = round(time.time() * 1_000)
        print_line({"event": event, "name": self._name, "at": at_ms, "partitions": partitions})
