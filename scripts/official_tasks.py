"""Every task of Kafka's two tools in both grammars: a table in docs/official-tools.md."""

from typing import Final, NamedTuple


class Task(NamedTuple):
    """One thing to be done.

    Args:
        what: in words.
        official: arguments of kafka-consumer-groups.sh, or a whole line of kafka-delete-records.sh;
            None where Kafka's tools cannot do it.
        ours: a command of our own grammar; None where there is none.
    """

    what: str
    official: str | None
    ours: str | None


TASKS: Final = (
    Task("list groups", "--list", "list"),
    Task(
        "with states and types, filtered",
        "--list --state Empty --type classic",
        "list --state empty --type classic",
    ),
    Task("by pattern", None, "list 'orders-*' --regex 'orders-[0-9]+' --sort state --top 10"),
    Task("lag of a group", "--describe --group g", "describe g"),
    Task("of all groups", "--describe --all-groups", "describe --all-groups"),
    Task("most lag first", None, "describe --all-groups --sort lag --top 20"),
    Task("the groups of a topic", None, "describe --topic t"),
    Task("refreshed, with changes marked", None, "describe g --watch 2"),
    Task(
        "its members",
        "--describe --group g --members --verbose",
        "describe g --members --verbose",
    ),
    Task("its state", "--describe --group g --state", "describe g --state"),
    Task("in the official layout", "--describe --group g", "describe g -o plain"),
    Task("delete a group", "--delete --group g", "delete g --yes"),
    Task("every group", "--delete --all-groups", "delete --all-groups --yes"),
    Task("groups by pattern or state", None, "delete 'old-*' --dry-run"),
    Task(
        "plan a reset to the start",
        "--reset-offsets --group g --topic t --to-earliest --dry-run",
        "reset-offsets g --topic t --to earliest --dry-run",
    ),
    Task(
        "do it",
        "--reset-offsets --group g --topic t --to-earliest --execute",
        "reset-offsets g --topic t --to earliest --execute",
    ),
    Task(
        "to the end, all topics",
        "--reset-offsets --group g --all-topics --to-latest --execute",
        "reset-offsets g --all-topics --to latest --yes",
    ),
    Task(
        "to an offset, some partitions",
        "--reset-offsets --group g --topic t:0,1 --to-offset 1500 --execute",
        "reset-offsets g --topic t:0,1 --to 1500 --yes",
    ),
    Task(
        "back by ten",
        "--reset-offsets --group g --topic t --shift-by -10 --execute",
        "reset-offsets g --topic t --to -10 --yes",
    ),
    Task(
        "to a time",
        "--reset-offsets --group g --topic t --to-datetime 2026-11-21T06:00:00.000Z --execute",
        "reset-offsets g --topic t --to 2026-11-21T06:00:00Z --yes",
    ),
    Task(
        "to two hours ago",
        "--reset-offsets --group g --topic t --by-duration PT2H --execute",
        "reset-offsets g --topic t --to 2h --yes",
    ),
    Task(
        "to the committed offset, clamped",
        "--reset-offsets --group g --topic t --to-current --execute",
        "reset-offsets g --topic t --to current --yes",
    ),
    Task(
        "every group that has lag",
        None,
        "reset-offsets --all-groups --all-topics --only-lagging --to latest --dry-run",
    ),
    Task(
        "the plan as CSV",
        "--reset-offsets --group g --topic t --to-earliest --export --dry-run",
        "reset-offsets g --topic t --to earliest --dry-run -o csv",
    ),
    Task(
        "from a CSV file",
        "--reset-offsets --group g --from-file F --execute",
        "reset-offsets g --to file:F --yes",
    ),
    Task("undo a reset", None, "reset-offsets --undo UNDO --yes"),
    Task("finish an interrupted one", None, "reset-offsets --resume UNDO --yes"),
    Task("copy another group's offsets", None, "copy-offsets --from g --to h --yes"),
    Task(
        "to another cluster",
        None,
        "copy-offsets --from g --to g --to-bootstrap-server west:9092 --dry-run",
    ),
    Task(
        "delete committed offsets",
        "--delete-offsets --group g --topic t:0,1",
        "delete-offsets g --topic t:0,1 --yes",
    ),
    Task("remove a member", None, "remove-members g --instance i --yes"),
    Task("check a pattern", "--validate-regex 'orders-.*'", None),
    Task(
        "delete records",
        "kafka-delete-records.sh --offset-json-file F",
        "delete-records --before file:F --yes",
    ),
    Task("older than a week", None, "delete-records t --before 7d --dry-run"),
    Task("that a group has read", None, "delete-records t --before group:g --dry-run"),
)
