"""The cluster that official options name."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgroups.cli.audit_log import audited
from kgroups.cli.contexts.guards import REASON, guard_of_environment
from kgroups.cli.official.arguments import Arguments
from kgroups.cli.official.options import DEFAULT_TIMEOUT_MS
from kgroups.cli.source import warn_of_exposure
from kgroups.core.errors import ClusterError, UsageError
from kgroups.core.input_files.files import lies_at
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import UnknownProtocol, read_settings
from kgroups.core.kafka.transport.tls import make_context

_INT_VALUES = 2**32


class NoClient(ClusterError):
    """No client can be made of what is given; the message is in the tool's words."""

    exit_code = 1


@contextmanager
def open_cluster(
    arguments: Arguments, *, client_ms: int | None = None, to_change: bool = False
) -> Iterator[ClusterAdmin]:
    """The cluster of `--bootstrap-server` and `--command-config`, for as long as the block lasts.

    Args:
        arguments: with `--timeout`, where the tool has it.
        client_ms: the timeout of a tool that has not: `default.api.timeout.ms` is another one.
        to_change: see at once that it may be written to, and ask coordinators only once they
            know all of their log.
    Raises:
        LateError: a value cannot be read, or an option that stands once is there twice.
        NoClient: the file or the addresses cannot be used.
        RefusedError: it is to be written to, and a guard forbids that.
    """
    file, address = arguments.value("command-config"), arguments.value("bootstrap-server")
    if file is not None and lies_at(Path(file)) is None:
        raise NoClient(f"java.nio.file.NoSuchFileException: {file}")
    timeout_ms = arguments.number("timeout")
    timeout_ms = DEFAULT_TIMEOUT_MS if timeout_ms is None else _as_int(timeout_ms)
    servers = filter(None, (address or "").split(","))
    if not all(server.rpartition(":")[2].strip().isdecimal() for server in servers):
        raise NoClient("Failed to create new KafkaAdminClient", hint=f"`{address}` names no port")
    try:
        settings = read_settings(address, None if file is None else Path(file))
        if settings.uses_tls:
            make_context(settings.tls)  # what is wrong with its files is wrong for every action
    except UnknownProtocol as error:
        raise NoClient(
            f"Invalid value {error.value} for configuration security.protocol: expected "
            f"{error.expected}"
        ) from error
    except UsageError as error:
        hint = error.message if error.hint is None else f"{error.message}: {error.hint}"
        raise NoClient("Failed to create new KafkaAdminClient", hint=hint) from error
    if file is not None:
        warn_of_exposure(Path(file), settings)
    if client_ms is not None:
        timeout_ms = client_ms if settings.api_timeout_ms is None else settings.api_timeout_ms
    guard = guard_of_environment() if to_change else None
    with ClusterAdmin(
        settings, timeout_ms=max(timeout_ms, 0), guard=guard, settles=to_change
    ) as admin:
        admin.check_writable()
        with audited(admin, reason=os.environ.get(REASON)):
            yield admin


def _as_int(number: int) -> int:
    """A number cut to 32 bits, as the tool does with a time."""
    cut = number % _INT_VALUES
    return cut - _INT_VALUES if cut >= _INT_VALUES // 2 else cut
