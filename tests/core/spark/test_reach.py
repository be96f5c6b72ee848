"""Spark addresses that are wrong, dead or someone else's: one sentence, in seconds."""

import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from kgroups.core.errors import ClusterError
from kgroups.core.spark import reach
from kgroups.core.spark.reach import must_be_connect_server, must_be_master
from kgroups.core.spark.session import SessionOptions, spark_session
from tests.support.kafka.child import WAIT_S, Child, run_program
from tests.support.kafka.waiting import wait_for_thread
from tests.support.lag.spark_servers import connect_server, standalone
from tests.support.own_waiting import OwnWaiting

LOOPBACK = "127.0.0.1"


@contextmanager
def listener(answer: bytes | None) -> Iterator[int]:
    """A port where something answers these bytes to whatever it is told; None: nothing ever."""
    with socket.create_server((LOOPBACK, 0)) as server:
        server.settimeout(WAIT_S)

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(WAIT_S)
                    connection.recv(64)
                    connection.sendall(answer or b"")

        thread = threading.Thread(target=serve, daemon=True)
        if answer is not None:
            thread.start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)
        if answer is not None:
            wait_for_thread(thread)  # before its descriptor is another socket's


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", None],
    ids=["a web server", "hangs up", "says nothing"],
)
@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_an_open_port_of_something_else(
    scheme: str, answer: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named before any JVM is started, where Spark would retry for minutes."""
    monkeypatch.setattr(reach, "TIMEOUT_S", 1.0)
    with listener(answer) as port, OwnWaiting() as waiting:
        address = f"{scheme}://{LOOPBACK}:{port}"
        master, remote = (address, None) if scheme == "spark" else (None, address)
        what = "Spark master" if scheme == "spark" else "Spark Connect server"
        with (
            pytest.raises(ClusterError, match=f"`{LOOPBACK}:{port}` is not a {what}"),
            spark_session(SessionOptions(master=master, remote=remote)),
        ):
            pytest.fail("a session")
    assert waiting.seconds < 10


def test_tls_is_spoken_only_with_whom_speaks_it() -> None:
    """An address with `use_ssl=true` of a server without TLS."""
    with listener(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00") as port:
        must_be_connect_server(LOOPBACK, port, tls=False)
        with pytest.raises(ClusterError, match="does not speak TLS"):
            must_be_connect_server(LOOPBACK, port, tls=True)


def test_one_master_of_several_is_enough() -> None:
    """The first that answers will do; the error names the first where none does."""
    answer = b"\x00\x00\x00\x00\x00\x00\x00\x30\x02" + bytes(39)
    with listener(answer) as port, listener(b"no") as other:
        must_be_master([(LOOPBACK, other), (LOOPBACK, port)])
        with pytest.raises(ClusterError, match=str(other)):
            must_be_master([(LOOPBACK, other), (LOOPBACK, other)])
        must_be_master([(LOOPBACK, other)], speaks_first=False)


NO_WORKERS = textwrap.dedent(
    """
    import sys
    from kgroups.core.errors import ClusterError
    from kgroups.core.spark import session

    session.EXECUTORS_TIMEOUT_S = 2.0
    try:
        with session.spark_session(session.SessionOptions(master=sys.argv[1], memory="512m")):
            print("a session")
    except ClusterError as exc:
        print(exc.message)
    """
)

SERVER_DIES = textwrap.dedent(
    """
    import sys
    from kgroups.core.errors import KgroupsError
    from kgroups.core.lag.report import LagQuery, lag_report
    from kgroups.core.spark.session import SessionOptions, spark_session
    from tests.support.lag.made_fleet import fleet
    from tests.support.own_waiting import OwnWaiting

    with spark_session(SessionOptions(remote=sys.argv[1])) as session:
        print("ready", flush=True)
        sys.stdin.readline()
        code = "none"
        with OwnWaiting() as waiting:
            try:
                lag_report([fleet(1)], LagQuery(), session=session)
            except KgroupsError as exc:
                code = exc.code
        print(code, waiting.seconds < 30, flush=True)
    """
)


@pytest.mark.slow("a JVM of its own: servers that are none are in every run")
@pytest.mark.spark
def test_a_real_master_without_workers(tmp_path: Path) -> None:
    """A master answers the probe, and no Connect server is mistaken for one."""
    with standalone(tmp_path, workers=0) as master:
        host, port = master.removeprefix("spark://").split(":")
        must_be_master([(host, int(port))])
        with pytest.raises(ClusterError, match="is not a Spark Connect server"):
            must_be_connect_server(host, int(port), tls=False)
        done = run_program([sys.executable, "-c", NO_WORKERS, master])
    assert done.stdout.strip() == f"Spark master `{master}` started no executor in 2 s", done.stderr


@pytest.mark.slow("a JVM of its own: servers that are none are in every run")
@pytest.mark.spark
def test_a_connect_server_that_dies(tmp_path: Path) -> None:
    """A report that was under way fails in seconds; the next finds nobody there."""
    with ExitStack() as children:
        with connect_server(tmp_path) as address:
            host, port = address.removeprefix("sc://").split(":")
            must_be_connect_server(host, int(port), tls=False)
            with pytest.raises(ClusterError, match="is not a Spark master"):
                must_be_master([(host, int(port))])
            command = [sys.executable, "-c", SERVER_DIES, address]
            child = children.enter_context(Child(command, stdin=subprocess.PIPE))
            assert child.line() == "ready\n"
        said, told = child.communicate("go\n", timeout=120)
    assert said == "SPARK_FAILED True\n", told
    assert child.returncode == 0
    with pytest.raises(ClusterError, match="does not answer"):
        must_be_connect_server(host, int(port), tls=False)
