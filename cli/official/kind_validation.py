"""Options that may stand together, for the tools of share and streams groups, in their order."""

from collections.abc import Iterator
from typing import Final

from kgroups.cli.official.arguments import Arguments
from kgroups.cli.official.validation import (
    SELECTIONS,
    at_most_one,
    conflicts,
    describe_problems,
    names,
    needs_groups,
)

ACTIONS: Final = ("list", "describe", "delete", "reset-offsets", "delete-offsets")
SCOPES: Final = ("topic", "all-topics", "from-file")
INPUTS: Final = ("all-input-topics", "input-topic")


def share_problems(arguments: Arguments) -> Iterator[str]:
    """Mistakes in the arguments of kafka-share-groups.sh."""
    yield from _needs_bootstrap(arguments)
    has = arguments.has
    if has("describe"):
        yield from describe_problems(arguments)
    if has("delete"):
        if not any(map(has, SELECTIONS)):
            yield "Option [delete] takes the options [group] or [all-groups]."
        if all(map(has, SELECTIONS)):
            yield "Option [delete] takes either [group] or [all-groups], not both."
        if has("topic") or has("all-topics"):
            yield "Option [delete] does not take the options [topic] or [all-topics]."
        if has("dry-run"):  # Kafka's tool ignores it, and deletes
            yield "Option [delete] does not take [dry-run]: nothing was deleted"
    if has("delete-offsets") and not (has("group") and has("topic")):
        yield "Option [delete-offsets] takes the following options: [group], [topic]"
    if has("reset-offsets"):
        yield from _reset_mode(arguments)
        if not has("group"):
            yield "Option [reset-offsets] takes the option: [group]"
        for options in (SCOPES, arguments.tool.scenarios):
            if not any(map(has, options)):
                said = names(sorted(options))
                yield f"Option [reset-offsets] takes one of these options: {said}"
            yield from at_most_one(arguments, options)
    yield from conflicts(arguments, "group", ["all-groups", "list"])
    yield from conflicts(arguments, "topic", ["list", "describe", "delete"])
    yield from _one_action(arguments, ", --")


def streams_problems(arguments: Arguments) -> Iterator[str]:
    """Mistakes in the arguments of kafka-streams-groups.sh."""
    yield from _needs_bootstrap(arguments)
    has = arguments.has
    if has("describe"):
        yield from describe_problems(arguments)
    if has("delete"):
        yield from needs_groups(arguments, "delete")
        if any(map(has, INPUTS)):
            yield (
                "Kafka Streams does not support topic-specific offset deletion from a streams "
                "group."
            )
    if has("delete-offsets"):
        groups = arguments.values("group")
        if not groups or not any(map(has, INPUTS)):
            yield (
                "Option [delete-offsets] takes the [group] and one of these options: "
                f"{names(INPUTS)}"
            )
        if len(groups) > 1:
            yield (
                "Option [delete-offsets] supports only one [group] at a time, but found: "
                f"[{', '.join(groups)}]"
            )
    if has("reset-offsets"):
        yield from _reset_mode(arguments)
        yield from needs_groups(arguments, "reset-offsets")
        yield from at_most_one(arguments, arguments.tool.scenarios)
    yield from _internal_topic_problems(arguments)
    if (has("dry-run") or has("execute")) and not has("reset-offsets"):
        yield "Only Option [reset-offsets] accepts [execute] or [dry-run]"
    yield from conflicts(arguments, "list", ["members", "offsets", "topology"])
    yield from conflicts(arguments, "group", ["all-groups", "list"])
    yield from conflicts(arguments, "input-topic", ["list", "describe", "delete"])
    yield from _one_action(arguments, ", or --")


def _internal_topic_problems(arguments: Arguments) -> Iterator[str]:
    has = arguments.has
    resets = has("reset-offsets") and has("execute")
    if has("delete-all-internal-topics"):
        option = "Option [delete-all-internal-topics] takes"
        if not has("reset-offsets") and not has("delete"):
            yield f"{option} one of these options: [delete], [reset-offsets]"
        if has("reset-offsets") and not resets:
            yield f"{option} [execute] when [reset-offsets] is used."
    elif has("delete-internal-topic") and not resets:
        yield "Option [delete-internal-topic] takes [reset-offsets] when [execute] is used."


def _needs_bootstrap(arguments: Arguments) -> Iterator[str]:
    if not arguments.has("bootstrap-server"):
        yield 'Missing required argument "[bootstrap-server]"'


def _reset_mode(arguments: Arguments) -> Iterator[str]:
    modes = [arguments.has("execute"), arguments.has("dry-run")]
    if all(modes):
        yield "Option [reset-offsets] only accepts one of [execute] and [dry-run]"
    if not any(modes):
        yield "Option [reset-offsets] takes the option: [execute] or [dry-run]"


def _one_action(arguments: Arguments, last: str) -> Iterator[str]:
    if sum(map(arguments.has, ACTIONS)) != 1:
        named = "--" + ", --".join(ACTIONS[:-1]) + last + ACTIONS[-1]
        yield f"Command must include exactly one action: {named}."
