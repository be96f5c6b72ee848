"""kafka-groups.sh: groups of every type, listed."""

from collections.abc import Iterator, Sequence
from typing import Final

from kgroups.assignors.order.java_order import utf16_key
from kgroups.cli.exits import show_error
from kgroups.cli.official.arguments import Arguments, LateError, ParseError
from kgroups.cli.official.layouts import java_length
from kgroups.cli.official.official_cluster import NoClient, open_cluster
from kgroups.cli.official.streams import notice, say, show
from kgroups.cli.official.tools import ALL_GROUPS_TOOL
from kgroups.cli.official.validation import Misuse, conflicts, opening
from kgroups.cli.output.escapes import for_stdout
from kgroups.core.errors import KgroupsError
from kgroups.core.snapshot import Group

TIMEOUT_MS: Final = 30_000
WIDTH: Final = 20
TYPES: Final = ("classic", "consumer", "share", "streams")
FILTERS: Final = ("consumer", "share", "streams")
FAILED: Final = "Error while executing groups command : "


def run_all_groups(words: Sequence[str]) -> int:
    """The exit code of `kafka-groups.sh WORDS`, run by us."""
    try:
        arguments = opening(words, ALL_GROUPS_TOOL)
        if isinstance(arguments, int):
            return arguments
        for problem in _problems(arguments):
            raise Misuse(problem)
        with open_cluster(arguments, client_ms=TIMEOUT_MS) as admin:
            listing = admin.list_groups()
        show(listed_text([group for group in listing.groups if _is_meant(arguments, group)]))
        for error in listing.errors:
            notice(FAILED + error.text)
        return 1 if listing.errors else 0
    except (ParseError, Misuse) as error:
        show_error(error)
    except LateError as error:
        notice(FAILED + str(error))
    except NoClient as error:
        notice(FAILED + error.message)
        if error.hint is not None:
            say(f"hint: {error.hint}")
    except KgroupsError as error:
        notice(FAILED + error.message)
    return 1


def _problems(arguments: Arguments) -> Iterator[str]:
    """Mistakes in the arguments, in the tool's words."""
    if not arguments.has("bootstrap-server"):
        yield 'Missing required argument "[bootstrap-server]"'
    if not arguments.has("list"):
        yield "Command must include exactly one action: --list."
    kind = arguments.value("group-type")
    if kind is not None and kind.lower() not in TYPES:
        yield "--group-type must be a valid group type."
    for name in FILTERS:
        yield from conflicts(arguments, name, sorted({*FILTERS, "group-type", "protocol"} - {name}))


def _is_meant(arguments: Arguments, group: Group) -> bool:
    """Whether the filters let a group through."""
    kind, protocol = arguments.value("group-type"), arguments.value("protocol")
    own = group.protocol_type or ""
    if kind is not None and kind.lower() != group.type:
        return False
    if protocol is not None:
        return protocol == own
    if arguments.has("consumer"):
        return own in ("consumer", "") or group.type == "consumer"
    return not any(arguments.has(name) and group.type != name for name in ("share", "streams"))


def listed_text(groups: Sequence[Group]) -> str:
    """The table: three columns, all as wide as the longest cell."""
    shown = for_stdout()
    rows = [
        (shown(group.group), group.type.capitalize(), shown(group.protocol_type or ""))
        for group in sorted(groups, key=lambda group: utf16_key(group.group))
    ]
    width = max([WIDTH, *(java_length(cell) for row in rows for cell in row)])
    lines = [" ".join(name.ljust(width) for name in ("GROUP", "TYPE", "PROTOCOL"))]
    lines += ["".join(cell + " " * (width - java_length(cell) + 1) for cell in row) for row in rows]
    return "".join(f"{line}\n" for line in lines)
