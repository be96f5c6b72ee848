"""A provider of tokens on loopback: an OpenID Connect token endpoint, and its public key."""

import atexit
import base64
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import parse_qs

from tests.support.kafka.child import run_program
from tests.support.kafka.waiting import wait_for_thread

CLIENT: Final = "kgroups-tests"
SECRET: Final = "s3cret/of+the=client"
AUDIENCE: Final = "kafka"
ISSUER: Final = "http://issuer.test"


def _openssl(*words: str) -> str:
    return run_program(["openssl", *words], check=True).stdout


@cache
def _key() -> Path:
    """An RSA key in PEM, for as long as the process lives."""
    folder = tempfile.mkdtemp(prefix="kgroups-tokens-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "key.pem"
    _openssl("genrsa", "-out", str(path), "2048")
    return path


def encoded(data: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class TokenServer:
    """Serves `/token` and `/keys` until it is left.

    Attributes:
        lifetime_s: of the tokens that it makes.
        issued: how many tokens were given out by the endpoint.
        asked: the form of each request.
        given: the tokens that the endpoint gave out.
        said: path to status and body of what is answered there, instead of a token.
    """

    def __init__(self) -> None:
        self.lifetime_s = 600.0
        self.issued = 0
        self.asked: list[dict[str, str]] = []
        self.given: list[str] = []
        self.said: dict[str, tuple[int, str]] = {}
        server = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 60

            def do_GET(self) -> None:
                self._answer(200, json.dumps({"keys": [public_key()]}))

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                form = parse_qs(self.rfile.read(length).decode())
                server.asked.append({name: values[0] for name, values in form.items()})
                self._answer(*server.answer(self.path, self.headers.get("Authorization", "")))

            def _answer(self, status: int, body: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        wait_for_thread(self._thread)
        self._server.server_close()

    def url(self, path: str) -> str:
        """`http://127.0.0.1:port/path`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{path}"

    def answer(self, path: str, authorization: str) -> tuple[int, str]:
        """Status and body of what the endpoint says."""
        if path in self.said:
            return self.said[path]
        expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if authorization != f"Basic {expected}":
            # Some providers repeat what they were sent.
            why = {"error": "invalid_client", "error_description": f"not: {authorization}"}
            return 401, json.dumps(why)
        self.issued += 1
        token = self.token()
        self.given.append(token)
        return 200, json.dumps({"access_token": token, "expires_in": self.lifetime_s})

    def token(self, **claims: object) -> str:
        """A signed token; claims that are given replace those of a good one."""
        now = time.time()
        good: dict[str, Any] = {
            **{"sub": "alice", "aud": AUDIENCE, "iss": ISSUER, "scope": "groups"},
            **{"iat": now, "exp": now + self.lifetime_s},
        }
        return signed(good | claims)


def public_key() -> Mapping[str, str]:
    """The key as JWKS has it."""
    text = _openssl("rsa", "-modulus", "-noout", "-in", str(_key()))
    modulus = bytes.fromhex(text.strip().partition("=")[2])
    numbers = {"n": encoded(modulus), "e": encoded((65537).to_bytes(3, "big"))}
    return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one", **numbers}


def signed(claims: Mapping[str, object]) -> str:
    """A JWT with these claims."""
    head = {"alg": "RS256", "typ": "JWT", "kid": "one"}
    text = ".".join(encoded(json.dumps(part).encode()) for part in (head, claims))
    with tempfile.TemporaryDirectory() as folder:
        signature, data = Path(folder) / "signature", Path(folder) / "data"
        data.write_text(text)
        _openssl("dgst", "-sha256", "-sign", str(_key()), "-out", str(signature), str(data))
        return f"{text}.{encoded(signature.read_bytes())}"
