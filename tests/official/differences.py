"""Where `kgroups` means to differ from Kafka's tools: a row each, with the reason.

A row turns what the official tool answered into what ours has to answer.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from kgroups.cli.official.help import groups_page, records_page
from kgroups.cli.official.run import version_line
from tests.kafka.official import Answer
from tests.official.lines import Line

Ask = Callable[[Line], Answer]


@dataclass(frozen=True)
class Difference:
    """One meant difference.

    Args:
        name: of the row.
        reason: why it is meant.
        expected: our answer for the official one; None where the row says nothing.
    """

    name: str
    reason: str
    expected: Callable[[Line, Answer, Ask], Answer | None]


_TRACE = re.compile(r"^(\s+at .*|\s+\.\.\. .*|Caused by: .*|\[\d{4}-\d\d-\d\d .*)\n?", re.MULTILINE)
_HEAD = re.compile(r"^[\w.$]+(Exception|Error)(: .*)?\n", re.MULTILINE)
_UNCAUGHT = re.compile(r'^Exception in thread "main" [\w.]+: ', re.MULTILINE)
_USAGE = re.compile(r"^Option +Description.*", re.MULTILINE | re.DOTALL)
_ERROR = re.compile(r"\nError: [^\n]*\n(?:\* [^\n]*\n)*")


def _without_traces(_line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    said = _UNCAUGHT.sub("", answer.stderr)
    said = _HEAD.sub("", _TRACE.sub("", said))
    return None if said == answer.stderr else replace(answer, stderr=said)


def _without_usage(_line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    if "--help" in _line.text or not _USAGE.search(answer.stderr):
        return None
    return replace(answer, stderr=_USAGE.sub("", answer.stderr))


def _help(line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    if "--help" not in line.text or not _USAGE.search(answer.stderr):
        return None
    page = records_page() if line.tool == "delete-records" else groups_page()
    return Answer(page, "", 0)


def _version(_line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    return Answer(version_line(), "", 0) if answer.stdout == "4.3.0\n" else None


def _failure(_line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    errors = _ERROR.findall(answer.stdout)
    if not errors:
        return None
    return Answer(_ERROR.sub("", answer.stdout), answer.stderr + "".join(errors), 1)


def _good_groups(line: Line, answer: Answer, ask: Ask) -> Answer | None:
    text = line.text
    for group in line.unknown:
        text = text.replace(f" --group {group}", "")
    if text == line.text or "--group" not in text:
        return None
    alone = ask(replace(line, text=text))
    return Answer(alone.stdout + answer.stdout, answer.stderr + alone.stderr, 1)


def _delete_dry_run(line: Line, _answer: Answer, _ask: Ask) -> Answer | None:
    if "--delete " not in line.text or "--dry-run" not in line.text:
        return None
    return Answer("", "Option [delete] does not take [dry-run]: nothing was deleted\n", 1)


DIFFERENCES = (
    Difference("help", "`--help` was asked for: stdout, exit code 0", _help),
    Difference("version", "`--version` is our own, and whose options it has", _version),
    Difference(
        "delete --dry-run",
        "Kafka's tool ignores the flag and deletes; we refuse",
        _delete_dry_run,
    ),
    Difference("usage", "a usage error names the help page and does not print it", _without_usage),
    Difference(
        "good groups",
        "a group that is unknown or of another kind does not hide the others",
        _good_groups,
    ),
    Difference("failure", "a failure is told on stderr and ends with exit code 1", _failure),
    Difference("trace", "no Java, so no stack traces and no log lines", _without_traces),
)
