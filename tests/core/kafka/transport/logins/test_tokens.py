"""Tokens: what is one, when a new one is got, and what happens while there is none."""

import json
import signal
import time
from pathlib import Path

import pytest

from kgroups.core.kafka.config.oauth import OAuthSettings
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.logins.token_keeper import TokenKeeper
from kgroups.core.kafka.transport.logins.tokens import Token, oauthbearer, token_of
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.process import start
from tests.support.kafka.child import WAIT_S
from tests.support.kafka.token_server import encoded
from tests.support.kafka.waiting import wait_until
from tests.support.processes import is_running

COMMAND = OAuthSettings("command", "x")


def jwt(**claims: object) -> str:
    """An unsigned token."""
    return f"{encoded(b'{}')}.{encoded(json.dumps(claims).encode())}.c2ln"


def test_what_a_token_says() -> None:
    """Its own end wins over the answer's; a token that says nothing has the answer's, or none."""
    own = {"access_token": jwt(sub="me", exp=2_000, nbf=1_000), "expires_in": 60}
    token = token_of(json.dumps(own), COMMAND, "it")
    assert (token.principal, token.expires_at, token.begins_at) == ("me", 2_000, 1_000)
    now = time.time()
    answer = json.dumps({"access_token": "opaque", "expires_in": 60})
    token = token_of(answer, COMMAND, "it")
    assert token.expires_at is not None
    assert token.expires_at - now >= 60
    assert token_of("opaque\n", COMMAND, "it").expires_at is None
    for odd in (jwt(exp="soon"), jwt(exp=10**400), jwt(exp=-1), "a.b.c", "a.e30=.c"):
        if "=" not in odd:
            assert token_of(odd, COMMAND, "it").expires_at is None
    assert "opaque" not in repr(token)


@pytest.mark.parametrize(
    "text",
    ["", "two words", "a\x01auth=Bearer b", "é", "{", '{"access_token": 7.5e1}x', "x" * 70_000],
)
def test_what_is_no_token(text: str) -> None:
    """Refused without being repeated."""
    with pytest.raises(BrokerFailure) as caught:
        token_of(text, COMMAND, "the command `x`")
    assert caught.value.code == "TOKEN_NOT_AVAILABLE"
    assert caught.value.message.startswith("the command `x` ")
    assert caught.value.fatal


def test_messages_with_extensions() -> None:
    """The message of RFC 7628, and the end after a refusal."""
    settings = OAuthSettings("command", "x", extensions=(("a", "1"), ("b", "2 3")))
    messages = oauthbearer(Token("t"), settings)
    assert next(messages) == b"n,,\x01auth=Bearer t\x01a=1\x01b=2 3\x01\x01"
    with pytest.raises(StopIteration):
        messages.send(b"")


def test_fresh_tokens_are_kept() -> None:
    """Four fifths of their life; those without an end never."""
    now = time.time()
    assert Token("t", expires_at=now + 100, obtained_at=now).is_fresh
    assert not Token("t", expires_at=now + 19, obtained_at=now - 81).is_fresh
    assert not Token("t", obtained_at=now).is_fresh


def test_an_old_token_is_used_while_there_is_no_new_one(tmp_path: Path) -> None:
    """Until it expires; then the reason is told."""
    place = tmp_path / "token"
    keeper = TokenKeeper(OAuthSettings("file", str(place)))
    life = 600
    place.write_text(jwt(exp=time.time() + life))
    first = keeper.obtain(60)
    kept = Token(first.text, expires_at=first.expires_at, obtained_at=time.time() - 10 * life)
    keeper._token = kept  # as if most of its life were over
    place.unlink()
    assert keeper.obtain(60) is kept
    keeper.forget(kept)
    with pytest.raises(BrokerFailure, match="cannot be read"):
        keeper.obtain(60)


def test_ctrl_c_ends_the_command(tmp_path: Path) -> None:
    """Which was to print a token, with all that it started."""
    pids = tmp_path / "pids"
    file = tmp_path / "c.properties"
    command = f"sh -c 'sleep 600 & echo $$ $! > {pids}.new; mv {pids}.new {pids}; wait'"
    with Sandbox(brokers=1) as cluster:
        file.write_text(
            f"bootstrap.servers={cluster.bootstrap_servers}\n"
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
            f"sasl.oauthbearer.token.endpoint.url=exec:{command}\n"
        )
        with start("list", "--command-config", str(file), "--timeout", "600s") as process:
            wait_until(pids.exists, "the command to run")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=WAIT_S)
    for pid in map(int, pids.read_text().split()):
        wait_until(lambda pid=pid: not is_running(pid), "the command to end")  # type: ignore[misc]
