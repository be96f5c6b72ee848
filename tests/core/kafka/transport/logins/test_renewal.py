"""A login that is renewed on its connection (KIP-368): the order, and a refusal."""

import asyncio
from typing import Any

import pytest

from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.connection import Connection
from kgroups.core.kafka.transport.requests import list_groups
from kgroups.core.protocol.tables.api_keys import Api
from tests.support.hostile.scripted_broker import ScriptedBroker

LIFETIME_MS = 3_600_000


class Refusing:
    """Lets a client in so many times."""

    def __init__(self, logins: int) -> None:
        self.left = logins

    def __call__(self, version: int, request: Any) -> dict[str, Any]:
        self.left -= 1
        code = 0 if self.left >= 0 else 58
        answer = {"error_message": None, "auth_bytes": b"", "session_lifetime_ms": LIFETIME_MS}
        return {"error_code": code, **answer}


def broker(logins: int) -> ScriptedBroker:
    """One that wants a login by PLAIN and has no groups."""
    return ScriptedBroker(
        {
            "sasl_handshake": lambda *_: {"error_code": 0, "mechanisms": ("PLAIN",)},
            "sasl_authenticate": Refusing(logins),
            "list_groups": lambda *_: {"throttle_time_ms": 0, "error_code": 0, "groups": ()},
        }
    )


async def opened(scripted: ScriptedBroker) -> tuple[Connection, float]:
    """A connection that is logged in, and a deadline."""
    settings = ClientSettings(
        scripted.address,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        username="me",
        password="s",
    )
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 60
    began = loop.time()
    connection = await Connection.open(settings.addresses[0], settings, None, deadline)
    due_at = connection._log_in_at
    assert due_at is not None
    assert began + 0.8 * 3_600 < due_at < loop.time() + 0.9 * 3_600
    assert await connection.stays_open(deadline)
    assert scripted.count("sasl_handshake") == 1  # not due yet
    connection._log_in_at = 0.0  # now it is
    return connection, deadline


def test_nothing_comes_between() -> None:
    """Questions that are asked meanwhile wait until the login is over."""

    async def ask(scripted: ScriptedBroker) -> None:
        connection, deadline = await opened(scripted)
        await asyncio.gather(
            connection.stays_open(deadline),
            connection.ask(Api.LIST_GROUPS, list_groups(), deadline),
            connection.ask_many(Api.LIST_GROUPS, [list_groups()] * 2, deadline),
            connection.stays_open(deadline),
        )
        assert await connection.stays_open(deadline)
        await connection.close()

    with broker(2) as scripted:
        asyncio.run(ask(scripted))
        names = [name for name, _, _ in scripted.seen]
    login = ["sasl_handshake", "sasl_authenticate"]
    assert names == ["api_versions", *login, *login, *["list_groups"] * 3]


def test_who_is_not_let_in_again() -> None:
    """The connection is of no use any more, whoever holds it."""

    async def ask(scripted: ScriptedBroker) -> None:
        connection, deadline = await opened(scripted)
        assert not await connection.stays_open(deadline)
        assert not connection.usable
        with pytest.raises(BrokerFailure, match="SASL_AUTHENTICATION_FAILED"):
            await connection.ask(Api.LIST_GROUPS, list_groups(), deadline)
        await connection.close()

    with broker(1) as scripted:
        asyncio.run(ask(scripted))
        assert scripted.count("list_groups") == 0
