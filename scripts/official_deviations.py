"""Deliberate differences from Kafka's tools; docs/official-tools.md and the tests read it."""

from typing import Final, NamedTuple


class Deviation(NamedTuple):
    """One difference.

    Args:
        name: of its row in the differential test.
        official: what Kafka's tools do.
        ours: what we do instead.
    """

    name: str
    official: str
    ours: str


DEVIATIONS: Final = (
    Deviation("failure", "a failure is reported on stdout and exits with 0", "stderr, exit code 1"),
    Deviation("good groups", "one bad group hides all others", "the others are shown"),
    Deviation("order", "rows in the order of a hash table", "rows sorted"),
    Deviation("help", "`--help` goes to stderr and exits with 1", "stdout, exit code 0"),
    Deviation("version", "`--version` is Kafka's", "ours, with the version whose options it has"),
    Deviation("usage", "a usage error prints the whole help", "it points to the help page"),
    Deviation("trace", "Java stack traces and log lines", "none"),
    Deviation(
        "delete --dry-run", "`--delete --dry-run` deletes anyway", "refused, nothing is deleted"
    ),
    Deviation(
        "short line",
        (
            "`--from-file`: a line without an offset means 0; a file without groups is read as if "
            "it had groups"
        ),
        "refused",
    ),
    Deviation("file", "a bad line of a CSV file is a Java parser's message", "file, line, reason"),
    Deviation("overlap", "`--topic t --topic t:0` fails", "a partition named twice is one"),
    Deviation(
        "datetime",
        "`--to-datetime` must have a fraction, of which `.5` is 5 ms; `+0530` means `+05`",
        "any fraction or none, zones as they are written",
    ),
    Deviation(
        "foreign group",
        (
            "`--reset-offsets` reports a share group as unknown; that of share groups takes any "
            "group, and resets one that does not exist yet but reports a failure"
        ),
        "a group of another type is refused, one that does not exist yet is reset",
    ),
    Deviation(
        "empty group",
        "a streams group without members is described by nothing, or by an error",
        "a notice on stderr, exit code 0",
    ),
    Deviation("not ready", "`--list --state NotReady` finds no group", "finds them"),
    Deviation(
        "foreign topic",
        "`--delete-internal-topic` deletes whatever topic is named",
        "only internal topics of the group; otherwise nothing is written",
    ),
    Deviation(
        "order of writing",
        "a group that cannot be reset stops the run after others were written",
        "every plan is made before the first write",
    ),
    Deviation(
        "vanished partition",
        "retried without pause until the timeout, and hides every group",
        "a row with `-`, named on stderr",
    ),
    Deviation(
        "undo",
        "offsets that `--reset-offsets --execute` replaces are lost",
        "saved first in a file named on stderr; `kgroups reset-offsets --undo FILE` restores them",
    ),
    Deviation(
        "lost groups",
        "groups of a broker that is down are silently missing from `--list` and `--all-groups`",
        "reported on stderr; exit code 1",
    ),
    Deviation(
        "guards",
        "writes wherever it is sent",
        "`KGROUPS_READ_ONLY`, `KGROUPS_EXPECT_CLUSTER_ID` and the context in use can forbid it: "
        "exit code 4",
    ),
    Deviation("clamped", "an offset clamped to the log is a log line", "a line on stderr"),
    Deviation("fallback", "a notice among the data", "stderr"),
    Deviation("failed row", "a partition that failed leaves exit code 0", "exit code 1"),
)
