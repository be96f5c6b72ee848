"""A client half's requests, addressed, and which of its events count."""

from functools import cache
from typing import Final

from kgroups.core.coordinator.client.effects import ClientEventKind, Send
from kgroups.core.simulation.world.actors import ANY_BROKER, Ask

# Events of the client half that a timeline shows.
SHOWN: Final = frozenset(ClientEventKind) - {
    ClientEventKind.STATE_CHANGED,
    ClientEventKind.OFFSETS_COMMITTED,
}
COMMIT_OVER: Final = frozenset({ClientEventKind.OFFSETS_COMMITTED, ClientEventKind.COMMIT_FAILED})


@cache
def kind_of(class_name: str) -> str:
    """`JoinGroup` of `JoinGroupRequest`."""
    return class_name.removesuffix("Request")


def ask_of(sent: Send) -> Ask:
    """A client half's request, addressed."""
    token, where, request = sent
    to = ANY_BROKER if where is None else where.node_id
    return Ask(token, to, kind_of(type(request).__name__), request)


def coordinator_text(broker: int, library: str) -> str:
    """Where the coordinator is; Java's consumers open a connection to it beside that for records.

    They tell the two apart by the node: Integer.MAX_VALUE less the broker's id.
    """
    return f"broker {broker}" + (f", as node {2**31 - 1 - broker}" if library == "java" else "")
