"""Many members of one Python client library in one process, driven by lines of JSON.

    python -m tests.support.fidelity.hosts.host librdkafka|kafka-python|aiokafka

Asked are {"number", "op"} with `open` (a member's name and what it is), `subscribe` (its name and
topics), `close` (its name), `owned` (names), `slow` (a watched member's name, and the ms that its
next records take longer), `wish` (its name, and `what` it does before its next poll); answered is
{"number", "ok"} or {"number", "error"}, with `owned` and `failed` where they were asked for.
"""

import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from kgroups.core.snapshot import TopicPartition
from tests.support.fidelity.hosts.watch import print_line
from tests.support.fidelity.hosts.watched_members import (
    WatchedAiokafka,
    WatchedKafkaPython,
    WatchedLibrdkafka,
)
from tests.support.kafka.live_members import LiveMember, MemberSpec

Json = Mapping[str, Any]


class HostedMember(Protocol):
    """A consumer, whatever its library."""

    @property
    def owned(self) -> frozenset[TopicPartition]: ...

    @property
    def failure(self) -> BaseException | None: ...

    def subscribe(self, topics: Sequence[str]) -> None: ...

    def close(self) -> None: ...


def librdkafka() -> Callable[[Json], HostedMember]:
    """Opens librdkafka's consumers."""

    def opened(asked: Json) -> HostedMember:
        if "watch" in asked:
            return WatchedLibrdkafka(asked)
        settings: dict[str, str | int | bool] = {
            "bootstrap.servers": asked["servers"],
            "group.id": asked["group"],
            "group.protocol": asked["protocol"],
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "topic.metadata.refresh.interval.ms": asked["refresh_ms"],
            "log_level": 0,
        }
        if asked["client"]:
            settings["client.id"] = asked["client"]
        if asked["instance"]:
            settings["group.instance.id"] = asked["instance"]
        if asked["rack"]:
            settings["client.rack"] = asked["rack"]
        if asked["protocol"] == "consumer":
            settings["group.remote.assignor"] = asked["strategy"]
        else:
            settings |= {
                "session.timeout.ms": asked["session_ms"],
                "heartbeat.interval.ms": asked["heartbeat_ms"],
                "partition.assignment.strategy": asked["strategy"],
            }
        topics = (asked["pattern"],) if asked["pattern"] else tuple(asked["topics"])
        return LiveMember(settings, MemberSpec(asked["name"], topics))

    return opened


def kafka_python() -> Callable[[Json], HostedMember]:
    """Opens kafka-python's consumers."""
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

    from tests.support.fidelity.hosts.kafka_python_member import KafkaPythonMember

    assignors: Mapping[str, type] = {
        "range": RangePartitionAssignor,
        "roundrobin": RoundRobinPartitionAssignor,
        "sticky": StickyPartitionAssignor,
        "cooperative-sticky": CooperativeStickyAssignor,
    }

    def opened(asked: Json) -> HostedMember:
        if "watch" in asked:
            return WatchedKafkaPython(asked, assignors)
        settings: dict[str, Any] = {
            "bootstrap_servers": asked["servers"].split(","),
            "group_id": asked["group"],
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
            "partition_assignment_strategy": (assignors[asked["strategy"]],),
            "session_timeout_ms": asked["session_ms"],
            "heartbeat_interval_ms": asked["heartbeat_ms"],
            "metadata_max_age_ms": asked["refresh_ms"],
            "client_rack": asked["rack"],
        }
        if asked["client"]:
            settings["client_id"] = asked["client"]
        if asked["instance"]:
            settings["group_instance_id"] = asked["instance"]
        return KafkaPythonMember(settings, asked["topics"], asked["pattern"] or None)

    return opened


def aiokafka() -> Callable[[Json], HostedMember]:
    """Opens aiokafka's consumers."""
    from aiokafka.coordinator.assignors.range import RangePartitionAssignor
    from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

    from tests.support.fidelity.hosts.aiokafka_member import AiokafkaMember, EventLoop

    assignors: Mapping[str, type] = {
        "range": RangePartitionAssignor,
        "roundrobin": RoundRobinPartitionAssignor,
        "sticky": StickyPartitionAssignor,
    }
    loop = EventLoop()

    def opened(asked: Json) -> HostedMember:
        if "watch" in asked:
            return WatchedAiokafka(loop.do, asked, assignors)
        settings: dict[str, Any] = {
            "bootstrap_servers": asked["servers"],
            "group_id": asked["group"],
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
            "partition_assignment_strategy": (assignors[asked["strategy"]],),
            "session_timeout_ms": asked["session_ms"],
            "heartbeat_interval_ms": asked["heartbeat_ms"],
            "metadata_max_age_ms": asked["refresh_ms"],
            "client_rack": asked["rack"] or None,
            "group_instance_id": asked["instance"] or None,
        }
        if asked["client"]:
            settings["client_id"] = asked["client"]
        return AiokafkaMember(loop, settings, asked["topics"], asked["pattern"] or None)

    return opened


OPENERS: Mapping[str, Callable[[], Callable[[Json], HostedMember]]] = {
    "librdkafka": librdkafka,
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
                self._members[asked["name"]].subscribe(asked["topics"])
            case "slow":
                member: Any = self._members[asked["name"]]
                member.watch.slow_ms = asked["ms"]
            case "wish":
                member = self._members[asked["name"]]
                member.watch.wishes.put(asked["wish"])
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
