"""A real cluster, as a program opens it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kgroups.core.errors import RefusedError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import read_settings
from kgroups.core.kafka.write_guard import WriteGuard

__all__ = ["Cluster"]

_READ_ONLY: Final = WriteGuard(
    RefusedError("the cluster was opened read-only", hint="open it with `read_only=False`")
)


class Cluster(ClusterAdmin):
    """A Kafka cluster, asked synchronously; a context manager, which ends its connections.

    Nothing is connected before the first question.

    Args:
        bootstrap_servers: `host:port[,host:port...]`; None takes those of the file.
        config_file: a client's properties file, in Java's or librdkafka's spelling.
        properties: single properties, in either spelling, which win over the file's.
        timeout_ms: for each question as a whole, connecting included.
        read_only: refuse whatever would change the cluster.
    Raises:
        UsageError: the file or a property cannot be understood, or no address is given.
    """

    def __init__(
        self,
        bootstrap_servers: str | None = None,
        *,
        config_file: Path | str | None = None,
        properties: Mapping[str, str] | None = None,
        timeout_ms: int = 10_000,
        read_only: bool = True,
    ) -> None:
        path = None if config_file is None else Path(config_file)
        super().__init__(
            read_settings(bootstrap_servers, path, properties),
            timeout_ms=timeout_ms,
            guard=_READ_ONLY if read_only else WriteGuard(),
        )
