"""A client half's requests, addressed."""

from functools import cache

from kgroups.core.coordinator.client.effects import Send
from kgroups.core.simulation.world.actors import ANY_BROKER, Ask


@cache
def kind_of(class_name: str) -> str:
    """`JoinGroup` of `JoinGroupRequest`."""
    return class_name.removesuffix("Request")


def ask_of(sent: Send) -> Ask:
    """A client half's request, addressed."""
    token, where, request = sent
    to = ANY_BROKER if where is None else where.node_id
    return Ask(token, to, kind_of(type(request).__name__), request)
