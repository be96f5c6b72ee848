"""Real Java consumers, all of them in one JVM that is driven by JSON lines."""

import itertools
import json
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self

from kgroups.core.snapshot import TopicPartition
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command
from tests.support.kafka.line_process import LineProcess

ANSWER_S = 60


class JavaMembers:
    """The JVM; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        command = java_command(class_path(), "LiveConsumers", log_level="ERROR")
        self._process = LineProcess(command, heard=self._hear)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.close()

    def open(
        self, name: str, config: Mapping[str, str], subscription: Mapping[str, object]
    ) -> None:
        """A consumer starts to poll.

        Args:
            subscription: `topics`, `pattern` (Java's dialect) or `regex` (RE2); with `share` a
                share consumer of topics.
        """
        self._ask({"op": "open", "name": name, "config": dict(config), **subscription})

    def close(self, name: str) -> None:
        """A consumer leaves its group, as far as it is not static, and ends."""
        self._ask({"op": "close", "name": name})

    def owned(self, names: Iterable[str]) -> dict[str, frozenset[TopicPartition]]:
        """What the consumers themselves believe to own."""
        answer = self._ask({"op": "owned", "names": list(names)})
        return {
            name: frozenset((topic, number) for topic, number in rows)
            for name, rows in answer["owned"].items()
        }

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            number = next(self._numbers)
            self._waiting[number] = future
            self._process.say(json.dumps({"number": number, **request}))
        answer = future.result(ANSWER_S)
        if "error" in answer:
            raise RuntimeError(f"{request}: {answer['error']}")
        return answer

    def _hear(self, line: str) -> None:
        if line:
            answer = json.loads(line)
            self._waiting.pop(answer["number"]).set_result(answer)
