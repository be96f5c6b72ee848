"""What may stand together, checked in the order of Kafka's tool and told in its words."""

from collections.abc import Iterable, Iterator, Sequence

from kgroups.cli.official.arguments import Arguments, LateError
from kgroups.cli.official.options import ACTIONS, SCENARIOS
from kgroups.core.errors import UsageError

WITHOUT_MODE = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this "
    "command will require either --dry-run or --execute to be specified. You should add the "
    "--dry-run option explicitly if you are scripting this command and want to keep the current "
    "default behavior without prompting."
)

# States and types that a filter may name, in the order of Kafka's enums.
STATES = (
    "PreparingRebalance",
    "CompletingRebalance",
    "Stable",
    "Dead",
    "Empty",
    "Assigning",
    "Reconciling",
)
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


def check(arguments: Arguments) -> None:
    """Return if the arguments make sense together.

    Raises:
        Misuse: they do not; the message is the official one.
    """
    message = next(_problems(arguments), None)
    if message is not None:
        raise Misuse(message, hint="`kgroups official --help` shows the options")


def _problems(arguments: Arguments) -> Iterator[str]:
    """What is wrong, in the order of checking."""
    if not arguments.has("validate-regex") and not arguments.has("bootstrap-server"):
        yield 'Missing required argument "[bootstrap-server]"'
    for action, problems in (
        ("describe", _describe_problems),
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


def _describe_problems(arguments: Arguments) -> Iterator[str]:
    yield from _needs_groups(arguments, "describe")
    if sum(map(arguments.has, VIEWS)) > 1:
        views = _names(VIEWS)
        yield f"Option [describe] takes at most one of these options: {views}"
    try:
        state = arguments.value("state")
    except LateError as error:
        yield str(error)
    else:
        if state is not None:
            yield "Option [describe] does not take a value for [state]"


def _delete_problems(arguments: Arguments) -> Iterator[str]:
    yield from _needs_groups(arguments, "delete")
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
    yield from _needs_groups(arguments, "reset-offsets")
    for scenario in SCENARIOS:
        yield from conflicts(
            arguments, scenario, [other for other in SCENARIOS if other != scenario]
        )


def _needs_groups(arguments: Arguments, action: str) -> Iterator[str]:
    if not any(map(arguments.has, SELECTIONS)):
        yield f"Option [{action}] takes one of these options: {_names(SELECTIONS)}"


def conflicts(arguments: Arguments, option: str, others: Iterable[str]) -> Iterator[str]:
    """What is said of each option that cannot be used with this one."""
    if arguments.has(option):
        for other in others:
            if arguments.has(other):
                yield f'Option "[{option}]" can\'t be used with option "[{other}]"'


def _names(options: Sequence[str]) -> str:
    return ", ".join(f"[{name}]" for name in options)


def states_of(text: str | None) -> tuple[str, ...]:
    """States that a filter names; empty for every state.

    Raises:
        Misuse: one of them is no state.
    """
    return _choices(text, STATES, "Invalid state list '{}'. Valid states are: ")


def types_of(text: str | None) -> tuple[str, ...]:
    """Types that a filter names; empty for both.

    Raises:
        Misuse: one of them is neither classic nor consumer.
    """
    return _choices(text, TYPES, "Invalid types list '{}'. Valid types are: ")


def _choices(text: str | None, known: Sequence[str], refusal: str) -> tuple[str, ...]:
    """The named values in Kafka's spelling; empty items at the end do not count."""
    spelling = {name.lower(): name for name in known}
    items = (text or "").split(",")
    while items and not items[-1]:
        items.pop()
    names = [item.strip().lower() for item in items]
    if any(name not in spelling for name in names):
        raise Misuse(refusal.format(text) + ", ".join(known))
    return tuple(dict.fromkeys(spelling[name] for name in names))
