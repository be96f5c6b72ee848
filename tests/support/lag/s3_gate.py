"""A gate before an S3 server: it passes requests on, and holds those for rows of captures.

A task that reads such a row from the store is then in the middle of its work for as long as a test
wants, and the test knows which process it is.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from tests.support.kafka.child import WAIT_S
from tests.support.kafka.waiting import DeadlinePassed

ROWS: Final = re.compile(r"/rows/.*\.parquet")
# Of one connection alone, so not to be passed on.
OWN_HEADERS: Final = frozenset({"connection", "keep-alive", "transfer-encoding"})


class Asked(NamedTuple):
    """A request for a file of rows: which, and the port that it came from."""

    path: str
    port: int


class Gate:
    """Which requests for rows there were, and whether they may pass.

    Attributes:
        asked: the requests, held ones too.
        held: those that were held.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.held: list[Asked] = []
        self._free: int | None = None
        self._counts: Callable[[int], bool] = lambda _: True
        self._changed = threading.Condition()

    def close(self, free: int, counts: Callable[[int], bool]) -> None:
        """From now on only so many files pass.

        Args:
            counts: whether a request counts, by the port that it came from; others pass.
        """
        with self._changed:
            self.asked, self.held, self._free, self._counts = [], [], free, counts

    def open(self) -> None:
        """Everything passes, what was held too."""
        with self._changed:
            self._free = None
            self._changed.notify_all()

    def wait_for_held(self) -> Asked:
        """The first request that is held.

        Raises:
            DeadlinePassed: none came in time.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self.held, WAIT_S):
                raise DeadlinePassed(f"after {WAIT_S:g} s still nobody has asked for rows")
            return self.held[0]

    def pass_through(self, asked: Asked) -> None:
        """Returns when a request may pass."""
        if not self._counts(asked.port):
            return
        with self._changed:
            self.asked.append(asked)
            files = list(dict.fromkeys(one.path for one in self.asked))
            if self._free is not None and asked.path not in files[: self._free]:
                self.held.append(asked)
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._free is None, WAIT_S)


@contextmanager
def gate_before(store: Mapping[str, str]) -> Iterator[tuple[Gate, dict[str, str]]]:
    """A gate, open, and the variables of the environment with which the store is reached by it."""
    gate, behind = Gate(), urlsplit(store["AWS_ENDPOINT_URL"]).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            path = urlsplit(self.path).path
            if self.command == "GET" and ROWS.search(path):
                gate.pass_through(Asked(path, self.client_address[1]))
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            server = HTTPConnection(behind, timeout=WAIT_S)
            headers = {k: v for k, v in self.headers.items() if k.lower() not in OWN_HEADERS}
            try:
                server.request(self.command, self.path, body or None, headers)
                found = server.getresponse()
                content = found.read()
            finally:
                server.close()
            with suppress(ConnectionError):  # who asked was killed meanwhile
                self.send_response(found.status)
                for name, value in found.getheaders():
                    if name.lower() not in OWN_HEADERS | {"content-length"}:
                        self.send_header(name, value)
                is_head = self.command == "HEAD"
                size = found.getheader("Content-Length") if is_head else len(content)
                self.send_header("Content-Length", str(size or 0))
                self.end_headers()
                self.wfile.write(content)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            yield gate, {**store, "AWS_ENDPOINT_URL": url}
        finally:
            gate.open()
            server.shutdown()
            serving.join(WAIT_S)
