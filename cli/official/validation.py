"""Options that may stand together, checked in the order of Kafka's tool, with its messages."""

from collections.abc import Iterable, Iterator, Sequence

from kgroups.cli.official.arguments import Arguments, LateError, parse
from kgroups.cli.official.options import ACTIONS, SCENARIOS
from kgroups.cli.official.streams import say, show
from kgroups.cli.official.tools import CONSUMER_TOOL, VERSION_LINE, Tool
from kgroups.core.errors import UsageError

WITHOUT_MODE = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this "
    "command will require either --dry-run or --execute to be specified. You should add the "
    "--dry-run option explicitly if you are scripting this command and want to keep the current "
    "default behavior without prompting."
)

# Types that a filter may name, in the order of Kafka's enum.
TYPES = ("Consumer", "Classic")
VIEWS = ("members", "offsets", "state")
SELECTIONS = ("all-groups", "group")

# (an option, what it cannot stand beside), in the order of checking.
CONFLICTS = (
    ("group", ("all-groups",)),
    ("group", ("list",)),
    ("topic", ("list", "describe")),
)


class Misuse(UsageError):
    """Options that do not fit together, or a value that cannot be; exit code 1 as in Kafka."""

    exit_code = 1


def opening(words: Sequence[str], tool: Tool) -> Arguments | int:
    """The arguments of a call of a tool; the exit code of one that asks for a page alone.

    Raises:
        ParseError: they cannot be parsed.
    """
    arguments = parse(words, tool)
    if not words:
        say(tool.page.rstrip("\n"))
        return 1
    for name, text in (("help", tool.page), ("version", VERSION_LINE)):
        if arguments.has(name):
            show(text)
            return 0
    return arguments


def check(arguments: Arguments, problems: Iterator[str]) -> None:
    """Return if the arguments make sense together.

    Args:
        problems: what is wrong with them, in the order of checking, in the official words.
    Raises:
        Misuse: something is.
    """
    message = next(problems, None)
    if message is not None:
        name = "" if arguments.tool == CONSUMER_TOOL else f" {arguments.tool.name}"
        raise Misuse(message, hint=f"`kgroups official{name} --help` shows the options")


def usual_problems(arguments: Arguments) -> Iterator[str]:
    """Mistakes in the arguments of kafka-consumer-groups.sh."""
    if not arguments.has("validate-regex") and not arguments.has("bootstrap-server"):
        yield 'Missing required argument "[bootstrap-server]"'
    for action, problems in (
        ("describe", describe_problems),
        ("delete", _delete_problems),
        ("delete-offsets", _delete_offsets_problems),
        ("reset-offsets", _reset_problems),
    ):
        if arguments.has(action):
            yield from problems(arguments)
    for option, others in CONFLICTS:
        yield from conflicts(arguments, option, others)
    if sum(map(arguments.has, ACTIONS)) != 1:
        yield "Command must include exactly one action: --" + ", --".join(ACTIONS)
    if len(arguments.values("validate-regex")) > 1:
        yield "Found multiple arguments for option validate-regex, but you asked for only one"


def describe_problems(arguments: Arguments) -> Iterator[str]:
    """Mistakes in a description, of any of the tools."""
    yield from needs_groups(arguments, "describe")
    views = [*VIEWS, *(["topology"] if arguments.tool.kind == "streams" else [])]
    if sum(map(arguments.has, views)) > 1:
        yield f"Option [describe] takes at most one of these options: {names(views)}"
    try:
        state = arguments.value("state")
    except LateError as error:
        yield str(error)
    else:
        if state is not None:
            yield "Option [describe] does not take a value for [state]"


def _delete_problems(arguments: Arguments) -> Iterator[str]:
    yield from needs_groups(arguments, "delete")
    if arguments.has("topic"):
        yield (
            "The consumer does not support topic-specific offset deletion from a consumer group."
        )
    if arguments.has("dry-run"):  # Kafka's tool ignores it, and deletes
        yield "Option [delete] does not take [dry-run]: nothing was deleted"


def _delete_offsets_problems(arguments: Arguments) -> Iterator[str]:
    if not arguments.has("group") or not arguments.has("topic"):
        yield "Option [delete-offsets] takes the following options: [topic], [group]"


def _reset_problems(arguments: Arguments) -> Iterator[str]:
    if arguments.has("execute") and arguments.has("dry-run"):
        yield "Option [reset-offsets] only accepts one of [execute] and [dry-run]"
    yield from needs_groups(arguments, "reset-offsets")
    yield from at_most_one(arguments, SCENARIOS)


def needs_groups(arguments: Arguments, action: str) -> Iterator[str]:
    """Message where no groups are meant."""
    if not any(map(arguments.has, SELECTIONS)):
        yield f"Option [{action}] takes one of these options: {names(SELECTIONS)}"


def conflicts(arguments: Arguments, option: str, others: Iterable[str]) -> Iterator[str]:
    """Message for each option that cannot be used with this one."""
    if arguments.has(option):
        for other in others:
            if arguments.has(other):
                yield f'Option "[{option}]" can\'t be used with option "[{other}]"'


def at_most_one(arguments: Arguments, options: Sequence[str]) -> Iterator[str]:
    """Message for each two of these options."""
    for option in options:
        yield from conflicts(arguments, option, [other for other in options if other != option])


def names(options: Iterable[str]) -> str:
    """Options as the parser writes them."""
    return ", ".join(f"[{name}]" for name in options)


def states_of(text: str | None, states: Sequence[str]) -> tuple[str, ...]:
    """Those of the states that a filter names; empty for every state.

    Raises:
        Misuse: one of them is no state.
    """
    return _choices(text, states, "Invalid state list '{}'. Valid states are: ")


def types_of(text: str | None) -> tuple[str, ...]:
    """Types that a filter names; empty for both.

    Raises:
        Misuse: one of them is neither classic nor consumer.
    """
    return _choices(text, TYPES, "Invalid types list '{}'. Valid types are: ")


def _choices(text: str | None, choices: Sequence[str], refusal: str) -> tuple[str, ...]:
    """The named values in Kafka's spelling; empty items at the end do not count."""
    spelling = {name.lower(): name for name in choices}
    items = (text or "").split(",")
    while items and not items[-1]:
        items.pop()
    names = [item.strip().lower() for item in items]
    if any(name not in spelling for name in names):
        raise Misuse(refusal.format(text) + ", ".join(choices))
    return tuple(dict.fromkeys(spelling[name] for name in names))
