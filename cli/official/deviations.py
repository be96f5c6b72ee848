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
    Deviation("failure", "a failure is told on stdout and ends with 0", "stderr, exit code 1"),
    Deviation("good groups", "one bad group hides all others", "the others are shown"),
    Deviation("order", "rows in the order of a hash table", "rows sorted"),
    Deviation("help", "`--help` goes to stderr and ends with 1", "stdout, exit code 0"),
    Deviation("version", "`--version` is Kafka's", "ours, and whose options it has"),
    Deviation("usage", "a usage error prints the whole help", "it names the help page"),
    Deviation("trace", "Java stack traces and log lines", "none"),
    Deviation("delete --dry-run", "deletes all the same", "refused, nothing is deleted"),
    Deviation(
        "short line",
        "`--from-file`: a line without an offset means 0; a file without groups is read as if it "
        "had them",
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
        "`--reset-offsets` takes a share group for an unknown one",
        "refused",
    ),
    Deviation(
        "order of writing",
        "a group that cannot be reset stops the run after others were written",
        "every plan is made before the first write",
    ),
    Deviation(
        "vanished partition",
        "asked for without pause until the time is over, and hides every group",
        "a row with `-`, named on stderr",
    ),
    Deviation(
        "undo",
        "what `--reset-offsets --execute` replaces is gone",
        "saved first, and the file named on stderr; `kgroups reset-offsets --undo FILE` puts it "
        "back",
    ),
    Deviation(
        "lost groups",
        "groups of a broker that is down are missing from `--list` and `--all-groups` without a "
        "word",
        "told on stderr; exit code 1",
    ),
    Deviation("clamped", "an offset put back inside the log is a log line", "a line on stderr"),
    Deviation("fallback", "a notice among the data", "stderr"),
    Deviation("failed row", "a partition that failed leaves exit code 0", "exit code 1"),
)
