"""Real Java consumers, all of them in one JVM that is driven by JSON lines."""

import itertools
import json
import subprocess
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self

from tests.kafka.jars import class_path
from tests.kafka.java import java_command
from tests.kafka.workload import Partition

ANSWER_S = 60


class JavaMembers:
    """The JVM; safe to use from many threads."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            java_command(class_path(), "LiveConsumers", log_level="ERROR"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._reader = threading.Thread(target=self._read, name="java-members", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        finally:
            self._process.kill()
            self._process.wait(20)
            self._reader.join(20)
            self._process.stdout.close()

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

    def owned(self, names: Iterable[str]) -> dict[str, frozenset[Partition]]:
        """What the consumers themselves believe to own."""
        answer = self._ask({"op": "owned", "names": list(names)})
        return {
            name: frozenset((topic, number) for topic, number in rows)
            for name, rows in answer["owned"].items()
        }

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            number = next(self._numbers)
            self._waiting[number] = future
            self._process.stdin.write(json.dumps({"number": number, **request}) + "\n")
            self._process.stdin.flush()
        answer = future.result(ANSWER_S)
        if "error" in answer:
            raise RuntimeError(f"{request}: {answer['error']}")
        return answer

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            self._waiting.pop(answer["number"]).set_result(answer)
