"""Every request is told of: over our own connections, and through librdkafka as far as it tells."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings, RequestTrace
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import run
from tests.support.kafka.waiting import wait_for_thread

LINE = re.compile(
    r"debug: [\w.-]+:\d+ [A-Z]\w+ v\d+ \d+\.\d ms, \d+ bytes sent,"
    r" (\d+ bytes received|no answer: [A-Z_]+)"
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """Two brokers."""
    with Sandbox(brokers=2, topics={"t": 2}) as cluster:
        yield cluster


def test_a_line_for_each_request(sandbox: Sandbox) -> None:
    """On stderr; stdout and the exit code stay as they are."""
    words = ("list", "-b", sandbox.bootstrap_servers, "-o", "csv")
    plain, told = run(*words), run(*words, "--debug")
    assert (plain.exit_code, plain.stdout) == (0, told.stdout)
    lines = [line for line in told.stderr.splitlines() if line not in plain.stderr]
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    apis = [line.split()[2] for line in lines]
    assert sorted(apis) == ["ApiVersions"] * 2 + ["ListGroups"] * 2 + ["Metadata"]


def test_figures(sandbox: Sandbox) -> None:
    """Bytes are those of the frames: a request of one more letter is one byte longer."""
    sizes = []
    for client_id in ("k", "kk"):
        told: list[RequestTrace] = []
        settings = ClientSettings(sandbox.bootstrap_servers, client_id=client_id, trace=told.append)
        with ClusterAdmin(settings) as admin:
            admin.list_groups()
        assert all(each.failure is None and each.duration_ms > 0 for each in told)
        sizes.append(sorted((each.api, each.sent_bytes or 0) for each in told))
    assert [(api, size + 1) for api, size in sizes[0]] == sizes[1]


@contextmanager
def hanging_up() -> Iterator[str]:
    """The address of a port that reads a little of what comes, and hangs up."""

    def serve() -> None:
        with suppress(OSError):  # it is closed
            while True:
                server.settimeout(60)
                connection, _ = server.accept()
                with connection, suppress(OSError):
                    connection.settimeout(60)
                    connection.recv(16)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        wait_for_thread(thread)  # before its descriptor is another socket's


def test_a_request_that_is_not_answered() -> None:
    """It is told with the reason."""
    with hanging_up() as address:
        outcome = run("list", "-b", address, "--timeout", "60s", "--debug")
    assert outcome.exit_code == 3
    line = outcome.stderr.splitlines()[0]
    assert LINE.fullmatch(line), line
    assert line.startswith(f"debug: {address} ApiVersions v3 ")
    assert line.endswith("no answer: NETWORK_EXCEPTION")


def test_through_librdkafka(sandbox: Sandbox) -> None:
    """Requests and answers are put together from its own log."""
    told: list[RequestTrace] = []
    settings = ClientSettings(sandbox.bootstrap_servers, trace=told.append)
    with ClusterAdmin(replace(settings, through_librdkafka=True)) as admin:
        assert admin.list_groups().groups == ()
    assert {each.api for each in told} >= {"ApiVersions", "Metadata", "ListGroups"}
    brokers = {f"{each.host}:{each.port}" for each in sandbox.brokers}
    assert {each.broker for each in told} <= brokers
    assert all(each.sent_bytes and each.received_bytes for each in told)


def test_settings_do_not_show_who_is_told() -> None:
    """Nor differ by it."""
    settings = ClientSettings("a:1")
    assert replace(settings, trace=print) == settings
    assert "trace" not in repr(replace(settings, trace=print))
