"""Which command a file is written for: those of `plan` and `simulate` look alike."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from kgroups.core.input_files.document import Document

Command = Literal["plan", "simulate"]

OF_SIMULATIONS: Final = frozenset(
    {"name", "seed", "until", "brokers", "cluster", "network", "events"}
)
"""Keys at the top that files of plans do not have."""
OF_SIMULATED_TOPICS: Final = frozenset({"rate", "skew", "keys", "hours"})


def check_command(document: Document, command: Command) -> None:
    """See that a file is not one for the other command.

    Raises:
        UsageError: it is.
    """
    meant = _command_of(document.value) if isinstance(document.value, dict) else None
    if meant not in (None, command):
        option = "--from " if meant == "plan" else ""
        document.root.fail(
            f"this is a file for `{meant}`", hint=f"kgroups {meant} {option}{document.name}"
        )


def _command_of(value: Mapping[str, Any]) -> Command | None:
    schema = value.get("schema")
    if isinstance(schema, str):
        return "simulate" if schema.startswith("kgroups.simulation") else None
    if OF_SIMULATIONS & value.keys():
        return "simulate"
    if any(OF_SIMULATED_TOPICS & topic.keys() for topic in _parts(value.get("topics"))):
        return "simulate"
    groups = [*_parts(value.get("groups"))]
    members = [member for group in groups for member in _parts(group.get("members"))]
    is_plan = any("changes" in group for group in groups) or any("owned" in m for m in members)
    return "plan" if is_plan else None


def _parts(value: object) -> Iterator[dict[str, Any]]:
    """The mappings in a mapping."""
    if isinstance(value, dict):
        yield from (part for part in value.values() if isinstance(part, dict))
