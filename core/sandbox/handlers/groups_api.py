"""Every API of the group coordinator on the wire: fields in, the coordinator asked, fields out."""

from collections.abc import Awaitable, Callable
from typing import Any

from kio.schema.errors import ErrorCode

from kgroups.core.coordinator.admin_messages import GROUP_KEY_TYPE
from kgroups.core.coordinator.fields.administration import found_rows, keys_of
from kgroups.core.coordinator.fields.codec import CODECS
from kgroups.core.coordinator.fields.sender import Sender
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.wire.schema import Body


def ask_coordinator(call: Call) -> Body | Awaitable[Body]:
    """The coordinator's answer as fields: at once if it is there, else as an awaitable."""
    version = call.version
    codec = CODECS[call.request.api]
    sender = Sender(version, call.request.client_id or "", call.peer)
    answer = call.cluster.pumps[call.broker.broker_id].submit(codec.read(call.body, sender))
    if isinstance(answer, Awaitable):
        return _later(answer, codec.write, version)
    return codec.write(answer, version)


async def _later(answer: Awaitable[Any], write: Callable[[Any, int], Body], version: int) -> Body:
    return write(await answer, version)


_NOT_SERVED = {
    1: (ErrorCode.transactional_id_authorization_failed, "transactions"),
    2: (ErrorCode.invalid_request, "share groups"),
}
"""Key types without a coordinator here. The code for transactions is the one that every producer
takes for final; most would ask again for ever after another."""


def find_coordinator(call: Call) -> Body | Awaitable[Body]:
    """Which broker a group belongs to. Transactions and share groups have no coordinator here."""
    key_type = call.body.get("key_type", GROUP_KEY_TYPE)
    if key_type == GROUP_KEY_TYPE:
        return ask_coordinator(call)
    keys = keys_of(call.body, call.version)
    return found_rows([_no_coordinator(key, key_type) for key in keys], call.version)


def _no_coordinator(key: str, key_type: int) -> Body:
    unknown = (ErrorCode.invalid_request, f"key type {key_type}")
    code, what = _NOT_SERVED.get(key_type, unknown)
    return {
        "key": key,
        "node_id": -1,
        "host": "",
        "port": -1,
        "error_code": code,
        "error_message": f"The embedded cluster does not serve {what}.",
    }
