"""`kgroups official`: the options and layouts of Kafka's own tool."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

from typer.core import TyperCommand

from kgroups.cli.exits import show_error, unprinted
from kgroups.cli.official.all_groups import run_all_groups
from kgroups.cli.official.dispatch import RECORDS, TOOLS
from kgroups.cli.official.records import run_records
from kgroups.cli.official.run import run_groups
from kgroups.cli.official.tools import ALL_GROUPS_TOOL
from kgroups.cli.params import check_texts
from kgroups.cli.usage import Texts, argument
from kgroups.core.errors import UsageError

HELP = """Run with the options of kafka-consumer-groups.sh.

Its options and its layouts; `kgroups official --help` lists them. The word
`official` may be left out where the line holds --list, --describe, --delete,
--reset-offsets, --delete-offsets or --validate-regex and no command before it.
`kgroups official delete-records`, and every line with --offset-json-file and
no other command, is kafka-delete-records.sh. A first word kafka-groups.sh,
kafka-share-groups.sh or kafka-streams-groups.sh stands for that tool, and a
link to kgroups of such a name acts as it.

EXAMPLES
  kgroups --bootstrap-server localhost:9092 --list --state
  kgroups --bootstrap-server localhost:9092 --describe --group g --members
  kgroups official --version
  kgroups official kafka-groups.sh --bootstrap-server localhost:9092 --list
  kgroups official kafka-share-groups.sh --help
  kgroups delete-records --bootstrap-server localhost:9092 --offset-json-file f
"""


class OfficialCommand(TyperCommand):
    """A command that reads its arguments by rules of its own, `--help` among them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Every word is an argument."""
        ctx.params["words"] = args
        return []


COMMAND = OfficialCommand


def official(
    words: Annotated[Texts, argument("OPTIONS...", "As Kafka's tool takes them.")] = None,
) -> NoReturn:
    """`kgroups official`: as Kafka's tool would, with its exit codes."""
    given = words or []
    _check(given)
    sys.exit(unprinted(_run(given), 1))


def _run(words: Sequence[str]) -> int:
    """The exit code of the tool that the first word names, or else of kafka-consumer-groups.sh."""
    tool, rest = (words[0], words[1:]) if words else ("", [])
    if tool == RECORDS:
        return run_records(rest)
    if tool == ALL_GROUPS_TOOL.name:
        return run_all_groups(rest)
    if tool in TOOLS:
        return run_groups(rest, TOOLS[tool])
    if tool.startswith("kafka-") and tool.endswith(".sh"):
        names = ", ".join(TOOLS)
        show_error(UsageError(f"`{tool}` is not a tool that kgroups stands for", hint=names))
        return 1
    return run_groups(words)


def _check(words: Sequence[str]) -> None:
    try:
        check_texts(words)
    except UsageError as error:
        show_error(error)
        sys.exit(1)
