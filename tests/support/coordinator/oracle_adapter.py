"""Our coordinator behind the oracle's operations: JSON in, JSON out, one at a time."""

from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from kgroups.core.coordinator.config import PROPERTIES, CoordinatorConfig
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.effects import Effect, Event, Reply, Write
from kgroups.core.coordinator.log import record_codec
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest
from kgroups.core.coordinator.releases import V4_4_0, Release
from kgroups.core.coordinator.topology import TopicInfo, Topology
from kgroups.core.sandbox.wire.coordinator_codec import Asked, write_json
from tests.support.coordinator.oracle_json import Json, read_request, write_record
from tests.support.coordinator.oracle_process import FIRST_RELEASE

START_MS = 1_700_000_000_000
PARTITION = 0
NOW = "answered at once"
# Before 4.4 the oracle's groups with settings of their own do not know the broker's, but Kafka's
# defaults.
GROUP_DEFAULTS = {"consumer.session.timeout.ms": "45000", "consumer.heartbeat.interval.ms": "5000"}
BLANK = {"offsets.topic.num.partitions": "1"}


def known(properties: dict[str, str]) -> dict[str, str]:
    """Those of the oracle's settings that change what a coordinator answers."""
    return {name: text for name, text in properties.items() if name in PROPERTIES}


class Adapter:
    """One coordinator after another: each `config` operation begins a new one.

    Args:
        at_once: heartbeats are given to `answer_at_once` first, commits to `commit_at_once`.
        release: of Kafka, whose rules ours follows.

    Attributes:
        events: what the coordinators told; whoever reads them may empty the list.
        release: as given.
        answered_at_once: how many requests were; `committed_at_once`: how many commits.
    """

    def __init__(self, *, at_once: bool = False, release: str = FIRST_RELEASE) -> None:
        self.release = Release.parse(release)
        self._group_defaults = GROUP_DEFAULTS if self.release < V4_4_0 else {}
        self._at_once, self.answered_at_once, self.committed_at_once = at_once, 0, 0
        self._written: list[Write] = []
        self.log: list[tuple[bytes, bytes | None]] = []
        self.events: list[Event] = []
        self._start({}, raw=False)

    def _start(self, properties: dict[str, str], *, raw: bool) -> None:
        self.raw = raw
        self.now_ms = START_MS
        self.log = []
        self.asked: dict[str, Asked] = {}
        self.states: dict[str, str] = {}
        self.ids: Iterator[str] = iter(())
        self.topology = Topology(version=1)
        self.coordinator = Coordinator(
            CoordinatorConfig.from_properties(known(properties) | BLANK, release=self.release),
            self.topology,
            lambda: UUID(next(self.ids)),
            now_ms=START_MS,
        )

    def answer(self, op: Json) -> Json:
        """What the oracle would say to this operation.

        Args:
            op: with `uuids`, the random ids that the oracle drew, to be used in order.
        """
        self.ids = iter(op.get("uuids", ()))
        kind = op["op"]
        response: Any = None
        if kind == "config":
            self._start(op["config"], raw=bool(op.get("raw")))
            return {"t": self.now_ms, "response": None}
        if kind == "topics":
            response = self._topics(op)
        elif kind == "advance":
            self.now_ms += op["ms"]
            self.coordinator.advance(self.now_ms)
        elif kind == "cleanup":
            self.coordinator.expire_offsets(self.now_ms)
        elif kind == "group_config":
            given = op["config"]
            self.coordinator.set_group_config(
                op["group"], {**self._group_defaults, **given} if given else {}
            )
        elif kind == "reload":
            self._reload()
        else:
            token = op.get("id", NOW)
            response = self._submit(token, read_request(op))
        return self._collect(op.get("id", NOW), response)

    def _submit(self, token: str, asked: Asked) -> Any:
        """The answer if there is one at once, without effects; else the request waits for them."""
        request: Any = asked.request
        if self._at_once:
            found = self.coordinator.answer_at_once(self.now_ms, request)
            if found is not None:
                self.answered_at_once += 1
                assert self.coordinator.take() == []
                return write_json(asked, found)
        if self._at_once and isinstance(request, OffsetCommitRequest):
            stored = self.coordinator.commit_at_once(self.now_ms, request)
            if stored is not None:
                self.committed_at_once += 1
                assert self.coordinator.take() == []
                self._written.append(stored[0])
                return write_json(asked, stored[1])
        self.asked[token] = asked
        self.coordinator.submit(self.now_ms, token, request)
        return "parked"

    def _collect(self, current: str, response: Any) -> Json:
        completed: list[Json] = []
        written: list[Json] = []
        for effect in self._effects():
            if isinstance(effect, Reply):
                token = str(effect.token)
                answer = write_json(self.asked.pop(token), effect.response)
                if token == current:
                    response = answer
                else:
                    completed.append({"id": token, "response": answer})
            elif isinstance(effect, Event):
                self.events.append(effect)
            elif isinstance(effect, Write):
                for record in effect.records:
                    self.log.append(record_codec.encode_record(record))
                    written.append(write_record(record, raw=self.raw))
        out: Json = {"t": self.now_ms, "response": response}
        if completed:
            out["completed"] = completed
        if written:
            out["records"] = written
        changed = self._changed_states()
        if changed:
            out["states"] = changed
        return out

    def _effects(self) -> list[Effect]:
        written, self._written = self._written, []
        return [*written, *self.coordinator.take()]

    def _changed_states(self) -> Json:
        groups = self.coordinator.group_states().items()
        now = {group_id: f"{kind}/{state}" for group_id, (kind, state) in groups}
        before, self.states = self.states, now
        changed: Json = {name: state for name, state in now.items() if before.get(name) != state}
        changed.update(dict.fromkeys(name for name in before if name not in now))
        return changed

    def _topics(self, op: Json) -> Json:
        topics = {
            name: topic
            for name, topic in self.topology.topics.items()
            if name not in op.get("delete", ())
        }
        for name, given in op["topics"].items():
            known = topics.get(name)
            count = max(given["partitions"], 0 if known is None else known.partitions)
            racks = () if known is None else known.racks
            new = tuple(frozenset(one) for one in given.get("racks", ()))
            racks += new[len(racks) : count]
            topic_id = (
                UUID(bytes=urlsafe_b64decode(given["id"] + "=="))
                if known is None
                else known.topic_id
            )
            padded = racks + (frozenset(),) * (count - len(racks))
            topics[name] = TopicInfo(name, topic_id, count, padded)
        self.topology = Topology(topics=topics, version=self.topology.version + 1)
        self.coordinator.update_topology(self.now_ms, self.topology)
        answer: Json = op["topics"]
        return answer

    def _reload(self) -> None:
        coordinator = self.coordinator
        coordinator.resign(self.now_ms, PARTITION)
        coordinator.begin_loading(PARTITION)
        for key, value in self.log:
            record = record_codec.decode_record(key, value)
            assert record is not None
            coordinator.replay(record)
        coordinator.finish_loading(self.now_ms, PARTITION)
