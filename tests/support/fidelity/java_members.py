"""Real Java consumers, all of them in one JVM that is driven by JSON lines."""

from collections.abc import Mapping, Sequence

from tests.support.fidelity.hosts.process import HostProcess
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command


class JavaMembers(HostProcess):
    """The JVM; safe to use from many threads."""

    def __init__(self) -> None:
        super().__init__(java_command(class_path(), "LiveConsumers", log_level="ERROR"))

    def open(
        self, name: str, config: Mapping[str, str], subscription: Mapping[str, object]
    ) -> None:
        """A consumer starts to poll.

        Args:
            subscription: `topics`, `pattern` (Java's dialect) or `regex` (RE2); with `share` a
                share consumer of topics.
        """
        self.ask("open", name=name, config=dict(config), **subscription)

    def close(self, name: str) -> None:
        """A consumer leaves its group, as far as it is not static, and ends."""
        self.ask("close", name=name)

    def subscribe(self, name: str, topics: Sequence[str]) -> None:
        """A consumer subscribes to these topics before its next poll."""
        self.ask("subscribe", name=name, topics=list(topics))
