"""A listener that speaks TLS and then hangs up."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import create_server

from tests.support.kafka.waiting import wait_for_thread


@contextmanager
def tls_listener(context: ssl.SSLContext) -> Iterator[int]:
    """Its port on loopback."""
    with create_server(("127.0.0.1", 0)) as server:
        server.settimeout(300)

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:  # it was closed: the test is over
                    return
                client.settimeout(10)
                with suppress(OSError), context.wrap_socket(client, server_side=True) as secured:
                    secured.settimeout(10)
                    secured.recv(1)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(2)
            wait_for_thread(thread)  # before its descriptor is another socket's
