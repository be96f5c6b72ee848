"""Kafka's errors as its Java client names and words them."""

import json
from collections.abc import Iterable
from pkgutil import get_data
from typing import Final

from kgroups.cli.official.tools import Tool
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.kafka.failures import UNSEEN
from kgroups.core.kafka.reads.group_listing import NOT_SERVED
from kgroups.core.offsets.result import Doubt

_PACKAGE: Final = "org.apache.kafka.common.errors."

# Error name of the protocol -> exception class and its default text.
EXCEPTIONS: Final[dict[str, tuple[str, str]]] = json.loads(
    get_data(__package__, "exceptions.json") or b""
)

# Failures of a connection; the tool then says which call could not be sent.
UNREACHABLE: Final = frozenset(
    {"REQUEST_TIMED_OUT", "NETWORK_EXCEPTION", "BROKER_NOT_AVAILABLE", "CLUSTER"}
)
NO_BROKER_TO_LIST: Final = (
    "org.apache.kafka.common.KafkaException: Failed to find brokers to send ListGroups"
)
WRAPPER: Final = "java.util.concurrent.ExecutionException: "


NO_NODES: Final = (
    f"{_PACKAGE}TimeoutException: Timed out waiting for a node assignment. Call: listNodes"
)


def nobody_answers(call: str) -> str:
    """Message of the Java client when it finds no broker for a call in time."""
    return (
        f"{_PACKAGE}TimeoutException: Timed out waiting for a node assignment. "
        f"Call: {call}(api=FIND_COORDINATOR)"
    )


def exception_text(code: str, text: str | None = None) -> str:
    """An error as Java prints it: class and text.

    Args:
        code: Kafka's error name.
        text: replaces the class's own.
    """
    exception = EXCEPTIONS.get(code)
    if exception is None:
        words = "".join(part.capitalize() for part in code.split("_"))
        return f"{_PACKAGE}{words}Exception: {text or code}"
    return f"{_PACKAGE}{exception[0]}: {text or exception[1]}"


def error_text(code: str) -> str:
    """The text of an error alone."""
    return EXCEPTIONS[code][1] if code in EXCEPTIONS else code


def describe_failure(tool: Tool, error: ItemError) -> str:
    """Why one group is not described, as the tool says it."""
    unserved = {text for kind, text in NOT_SERVED.items() if kind != tool.kind}
    if error.code == "GROUP_ID_NOT_FOUND" or error.message in unserved:
        return exception_text("GROUP_ID_NOT_FOUND", f"Group {error.target} not found.")
    if error.code in UNREACHABLE:
        return nobody_answers(tool.call("describe"))
    if error.code == "TOPIC_AUTHORIZATION_FAILED":  # a KIP-848 group reads topics that are hidden
        text = "The group has described topic(s) that the client is not authorized to describe."
        return exception_text(error.code, text)
    return group_failure(error.target, error)


def group_failure(group: str, error: ItemError) -> str:
    """Why something cannot be done to a group, as Java prints it."""
    if error.message == UNSEEN:
        text = (
            f"FindCoordinator request for groupId `CoordinatorKey(idValue='{group}', type=GROUP)` "
            "failed due to authorization failure"
        )
        return exception_text(error.code, text)
    return exception_text(error.code)


def doubt_text(doubt: Doubt) -> str:
    """Why it is not known whether a write was done."""
    is_listed = doubt.code in EXCEPTIONS
    return f"outcome unknown: {(exception_text(doubt.code) if is_listed else doubt.cause)}"


def failure_text(error: ItemError) -> str:
    """Why something was not done, or may be, as Java prints it."""
    return doubt_text(error) if isinstance(error, Doubt) else exception_text(error.code)


def unlisted(errors: Iterable[ItemError]) -> ItemError | None:
    """The failure of a broker that could not list its groups; None if all that are up did."""
    return next((error for error in errors if error.code != "COORDINATOR_NOT_AVAILABLE"), None)


def list_failure(error: KgroupsError | ItemError) -> str:
    """Why groups could not be listed."""
    return NO_BROKER_TO_LIST if error.code in UNREACHABLE else exception_text(error.code)


def unlisted_text(tool: Tool, error: KgroupsError | ItemError) -> str:
    """Why a tool could not list its groups by their names: of share groups without any class."""
    text = list_failure(error)
    return text.partition(": ")[2] if tool.kind == "share" else WRAPPER + text
