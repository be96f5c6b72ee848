"""Whether a Spark master or a Connect server is there, found out in seconds.

Spark itself retries for a minute (a master) or ten (Connect), also where something else listens
on the port. So each address is asked in the server's own protocol first, and must answer.
"""

import contextlib
import socket
import ssl
import struct
from collections.abc import Iterator, Sequence

from kgroups.core.errors import ClusterError

TIMEOUT_S = 5.0

# Spark's transport (network-common, ChunkFetchRequest): length of the frame, type, stream, chunk.
# Nobody has such a stream, and any Spark says so: a frame of type 2, ChunkFetchFailure.
CHUNK_REQUEST = struct.pack(">qbqi", 21, 0, -1, 0)
CHUNK_FAILURE = b"\x02"
# HTTP/2 (RFC 9113, 3.4): the client's preface and empty SETTINGS; a server's first frame is
# SETTINGS too, type 4.
HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
HTTP2_SETTINGS = b"\x04"
FRAME_START = 9  # both kinds of frame have told their type by then


def must_be_master(
    addresses: Sequence[tuple[str, int]], what: str = "Spark master", *, speaks_first: bool = True
) -> None:
    """Returns when one of these masters answers; with several, the others stand by.

    Args:
        what: they are, for messages.
        speaks_first: whether a master talks to strangers; with `spark.authenticate` it does not,
            and an open port must do.
    Raises:
        ClusterError: none does; named is the first.
    """
    failures = []
    for host, port in addresses:
        try:
            with _connected(what, host, port) as connection:
                if speaks_first:
                    head = _ask(connection, CHUNK_REQUEST)
                    _must_have(what, host, port, is_right=head[8:9] == CHUNK_FAILURE)
            return
        except ClusterError as exc:
            failures.append(exc)
    raise failures[0]


def must_be_connect_server(host: str, port: int, *, tls: bool) -> None:
    """Returns when a Spark Connect server, or at least gRPC, answers.

    Args:
        tls: whether it is reached through TLS; its certificate is looked at later, by gRPC.
    Raises:
        ClusterError: it does not answer, or something else does.
    """
    what = "Spark Connect server"
    with _connected(what, host, port) as connection:
        if tls:
            with _encrypted(what, host, port, connection) as secured:
                head = _ask(secured, HTTP2_PREFACE)
        else:
            head = _ask(connection, HTTP2_PREFACE)
        _must_have(what, host, port, is_right=head[3:4] == HTTP2_SETTINGS)


@contextlib.contextmanager
def _connected(what: str, host: str, port: int) -> Iterator[socket.socket]:
    """A connection for the length of a block."""
    try:
        connection = socket.create_connection((host, port), timeout=TIMEOUT_S)
    except OSError as exc:
        raise ClusterError(
            f"{what} `{host}:{port}` does not answer: {exc.strerror or exc}",
            hint="check the address, and that it is running",
        ) from exc
    with connection:
        yield connection


@contextlib.contextmanager
def _encrypted(
    what: str, host: str, port: int, connection: socket.socket
) -> Iterator[ssl.SSLSocket]:
    """The connection in TLS; nothing secret goes over it, so nobody has to prove who they are."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        secured = context.wrap_socket(connection, server_hostname=host)
    except OSError as exc:
        raise ClusterError(
            f"{what} `{host}:{port}` does not speak TLS: {exc.strerror or exc}",
            hint="leave out `use_ssl=true`, or check the address",
        ) from exc
    with secured:
        yield secured


def _ask(connection: socket.socket, question: bytes) -> bytes:
    """The start of the answer's first frame; less where none comes in time."""
    head = b""
    try:
        connection.sendall(question)
        while len(head) < FRAME_START:
            more = connection.recv(FRAME_START - len(head))
            if not more:
                break
            head += more
    except OSError:  # a time-out or a reset: no answer either way
        pass
    return head


def _must_have(what: str, host: str, port: int, *, is_right: bool) -> None:
    """Fails where the answer was no such server's."""
    if not is_right:
        raise ClusterError(
            f"`{host}:{port}` is not a {what}",
            hint="check the host and port; the web UI uses a different port",
        )
