"""Settings of members by Java's names, from what their programs are asked for."""

from collections.abc import Mapping
from typing import Any, Final

CALLED: Final = {
    "client.id": "client",
    "group.instance.id": "instance",
    "client.rack": "rack",
}
"""What a member is called, and the words for it in what a program is asked for."""


def called(asked: Mapping[str, Any]) -> dict[str, str]:
    """What a member is called; what is not given is the library's own."""
    return {name: asked[word] for name, word in CALLED.items() if asked.get(word)}


def driven_settings(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a member that is not watched, beside its group and its assignor."""
    settings = {"enable.auto.commit": False, "metadata.max.age.ms": asked["refresh_ms"]}
    if asked["protocol"] == "consumer":
        return settings
    return settings | {
        "session.timeout.ms": asked["session_ms"],
        "heartbeat.interval.ms": asked["heartbeat_ms"],
    }
