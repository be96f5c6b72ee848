"""A local S3 server (moto) in a process of its own, with buckets: for captures in a store.

In a process of its own, because delta-rs keeps Python's lock while it waits for an answer. Requests
are answered one at a time: what makes S3's conditional puts atomic is not left to moto.

    python -m tests.support.lag.s3_server     prints its port, ends when its input does
"""

import contextlib
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

from tests.support.kafka.child import WAIT_S, Child

BUCKET: Final = "lag"
SECRET: Final = "s3cret-of-the-store"


@contextlib.contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """The variables of the environment with which the server is reached; it has `BUCKET`."""
    root = Path(__file__).parents[3]
    with Child([sys.executable, "-m", __name__], stdin=subprocess.PIPE, cwd=root) as process:
        url = f"http://127.0.0.1:{int(process.line())}"
        bucket = Request(f"{url}/{BUCKET}", method="PUT", headers={"Host": "s3.amazonaws.com"})
        with urlopen(bucket, timeout=WAIT_S):
            pass
        yield {
            "AWS_ENDPOINT_URL": url,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "who-may-write",
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }


def one_at_a_time(app: Any) -> Callable[[Any, Any], list[bytes]]:
    """The same application, that answers one request after the other."""
    lock = threading.Lock()

    def answer(environ: Any, start_response: Any) -> list[bytes]:
        with lock:
            return list(app(environ, start_response))

    return answer


def main() -> None:
    """Serves until the input ends."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = one_at_a_time(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    print(server.server_port, flush=True)

    def until_input_ends() -> None:
        sys.stdin.read()
        server.shutdown()

    threading.Thread(target=until_input_ends).start()
    server.serve_forever()
    server.server_close()


if __name__ == "__main__":
    main()
