"""Many members of one Python client library in one process, driven by lines of JSON.

    python -m tests.support.fidelity.hosts.host librdkafka|kafka-python|aiokafka

Asked are {"number", "op"} with `open` (a member's name and what it is), `subscribe` (its name and
topics), `close` (its name), `owned` (names), `slow` (a watched member's name, and the ms that its
next records take longer), `wish` (its name, and `what` it does before its next poll); answered is
{"number", "ok"} or {"number", "error"}, with `owned` and `failed` where they were asked for.
"""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from kgroups.core.snapshot import TopicPartition
from tests.support.fidelity.hosts.members import (
    DONE_S,
    HostedAiokafka,
    HostedKafkaPython,
    HostedLibrdkafka,
    Json,
)
from tests.support.fidelity.hosts.watch import Watch, print_line


class HostedMember(Protocol):
    """A consumer, whatever its library."""

    watch: Watch

    @property
    def owned(self) -> frozenset[TopicPartition]: ...

    @property
    def failure(self) -> BaseException | None: ...

    def close(self) -> None: ...


def kafka_python() -> Callable[[Json], HostedMember]:
    """Opens kafka-python's consumers."""
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

    assignors: Mapping[str, type] = {
        "range": RangePartitionAssignor,
        "roundrobin": RoundRobinPartitionAssignor,
        "sticky": StickyPartitionAssignor,
        "cooperative-sticky": CooperativeStickyAssignor,
    }
    return lambda asked: HostedKafkaPython(asked, assignors)


def aiokafka() -> Callable[[Json], HostedMember]:
    """Opens aiokafka's consumers, all in one event loop; sticky ones need a process each."""
    from aiokafka.coordinator.assignors.range import RangePartitionAssignor
    from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

    assignors: Mapping[str, type] = {
        "range": RangePartitionAssignor,
        "roundrobin": RoundRobinPartitionAssignor,
        "sticky": StickyPartitionAssignor,
    }
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def do(action: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(action, loop).result(DONE_S)

    return lambda asked: HostedAiokafka(do, asked, assignors)


OPENERS: Mapping[str, Callable[[], Callable[[Json], HostedMember]]] = {
    "librdkafka": lambda: HostedLibrdkafka,
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
}


class Host:
    """The members of this process."""

    def __init__(self, opened: Callable[[Json], HostedMember]) -> None:
        self._opened = opened
        self._members: dict[str, HostedMember] = {}

    def reply(self, asked: Json) -> None:
        """Do what is asked, and print the answer."""
        answer: dict[str, Any] = {"number": asked["number"]}
        try:
            answer |= self._done(asked)
        except BaseException as failure:
            answer["error"] = repr(failure)
        print_line(answer)

    def _done(self, asked: Json) -> Json:
        match asked["op"]:
            case "open":
                self._members[asked["name"]] = self._opened(asked)
            case "subscribe":
                wish = {"what": "subscribe", "topics": asked["topics"]}
                self._members[asked["name"]].watch.wishes.put(wish)
            case "slow":
                self._members[asked["name"]].watch.slow_ms = asked["ms"]
            case "wish":
                self._members[asked["name"]].watch.wishes.put(asked["wish"])
            case "close":
                self._members.pop(asked["name"]).close()
            case "owned":
                members = {name: self._members[name] for name in asked["names"]}
                return {
                    "owned": {name: sorted(member.owned) for name, member in members.items()},
                    "failed": {n: repr(m.failure) for n, m in members.items() if m.failure},
                }
        return {"ok": True}


def main(library: str) -> None:
    """Serve until standard input ends."""
    host = Host(OPENERS[library]())
    for line in sys.stdin:
        threading.Thread(target=host.reply, args=(json.loads(line),), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
