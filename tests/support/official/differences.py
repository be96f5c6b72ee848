"""Where `kgroups` means to differ from Kafka's tools: a row each, with the reason.

A row turns what the official tool answered into what ours has to answer.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from kgroups.cli.official.tools import (
    CONSUMER_TOOL,
    RECORDS_TOOL,
    SHARE_TOOL,
    STREAMS_TOOL,
    VERSION_LINE,
)
from tests.support.kafka.official_tools import Answer
from tests.support.official.lines import Line

Ask = Callable[[Line], Answer]

ANY_WORDS = "*"
"""Stands for words of our own on stderr."""
UNDO = "undo file: PATH\n"
"""Stands for that line with a path of its own."""


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
_CLAMP = re.compile(r"^\[[^\]]*\] (WARN New offset .*) \([\w.]+\)$", re.MULTILINE)
_NO_MEMBERS = re.compile(r"\nError: Streams group '[^']*' has no active members\.\n")
_WARN = re.compile(r"\nWarn: [^\n]*\n")
_RECORD_ERROR = re.compile(r"^partition: \S+\terror: .*\n", re.MULTILINE)
_ERROR = re.compile(r"\nError: [^\n]*\n(?:\* [^\n]*\n)*")


_TOOLS = {
    "consumer-groups": CONSUMER_TOOL,
    "share-groups": SHARE_TOOL,
    "streams-groups": STREAMS_TOOL,
    "delete-records": RECORDS_TOOL,
}


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
    return Answer(_TOOLS[line.tool].page, "", 0)


def _version(_line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    return Answer(VERSION_LINE, "", 0) if answer.stdout == "4.4.0\n" else None


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


def _clamped(_line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    said = _CLAMP.sub(r"\1", answer.stderr)
    return None if said == answer.stderr else replace(answer, stderr=said)


def _fallback(_line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    notices = _WARN.findall(answer.stdout)
    if not notices:
        return None
    return replace(
        answer, stdout=_WARN.sub("", answer.stdout), stderr=answer.stderr + "".join(notices)
    )


def _failed_rows(line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    if line.tool == "delete-records":
        errors = _RECORD_ERROR.findall(answer.stdout)
        if not errors:
            return None
        said = answer.stderr + "".join(error.replace("\t", " ") for error in errors)
        return Answer(_RECORD_ERROR.sub("", answer.stdout), said, 1)
    failed = "--delete-offsets" in line.text and " Error: " in answer.stdout
    return replace(answer, status=1) if failed and answer.status == 0 else None


def _reset_file(_line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    if "com.fasterxml" in answer.stdout:
        return Answer("", ANY_WORDS, 1)
    if "com.fasterxml" in answer.stderr:
        said = re.sub(r"com\.fasterxml.*", "", answer.stderr, flags=re.DOTALL)
        return replace(answer, stderr=said)
    return None


def _misread_file(line: Line, _answer: Answer, _ask: Ask) -> Answer | None:
    short = "two.csv" in line.text
    misread = "--from-file {f}/three.csv" in line.text and line.text.count("--group") > 1
    return Answer("", ANY_WORDS, 1) if short or misread else None


def _overlap(line: Line, answer: Answer, ask: Ask) -> Answer | None:
    if "Duplicate key" not in answer.stdout:
        return None
    return ask(replace(line, text=line.text.replace(" --topic reset-b:0", "")))


def _datetime(line: Line, _answer: Answer, ask: Ask) -> Answer | None:
    if "T00:00:00" not in line.text or "T00:00:00." in line.text:
        return None
    return ask(replace(line, text=line.text.replace("T00:00:00", "T00:00:00.000")))


def _undo(line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    if "--reset-offsets" not in line.text or "--execute" not in line.text:
        return None
    tried = re.search("Failed altering group offsets|Deleting internal topics", answer.stdout)
    if "Error: " in answer.stdout and not tried:
        return None
    if not any(row and not row.startswith("GROUP ") for row in answer.stdout.splitlines()):
        return None
    return replace(answer, stderr=answer.stderr + UNDO)


def _empty_group(line: Line, answer: Answer, _ask: Ask) -> Answer | None:
    if line.tool != "streams-groups" or "--describe" not in line.text or answer.status != 0:
        return None
    said = _NO_MEMBERS.sub("", answer.stdout)
    if "app-empty" not in line.text and "--all-groups" not in line.text:
        return None
    notice = "\nStreams group 'app-empty' has no active members.\n"
    return replace(answer, stdout=said, stderr=answer.stderr + notice)


def _not_ready(line: Line, _answer: Answer, ask: Ask) -> Answer | None:
    if "--list --state NotReady" not in line.text:
        return None
    every = ask(replace(line, text=line.text.replace(" NotReady", "")))
    rows = every.stdout.splitlines(keepends=True)
    kept = [row for row in rows if row.startswith("GROUP ") or row.endswith("NotReady\n")]
    return replace(every, stdout="".join(kept))


def _foreign_topic(line: Line, _answer: Answer, _ask: Ask) -> Answer | None:
    if not line.text.endswith("--delete-internal-topic nope"):
        return None
    error = (
        "Error: Executing streams group command failed due to 'nope' is not an internal topic of "
        "the group: nothing was written\n"
    )
    return Answer("", error, 1)


def _foreign_reset(line: Line, _answer: Answer, _ask: Ask) -> Answer | None:
    if line.tool == "share-groups" and "--reset-offsets --group plain" in line.text:
        error = (
            "Error: Executing share group command failed due to "
            "org.apache.kafka.common.errors.GroupIdNotFoundException: Group plain is not a share "
            "group.\n"
        )
        return Answer("", error, 1)
    if "--reset-offsets" not in line.text or "share-readers" not in line.text:
        return None
    error = (
        "Error: Executing consumer group command failed due to "
        "org.apache.kafka.common.errors.GroupIdNotFoundException: Group share-readers is not a "
        "consumer group.\n"
    )
    return Answer("", error, 1)


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
        "short line",
        "Kafka's tool takes a missing offset for 0, and a file without groups for one with them",
        _misread_file,
    ),
    Difference(
        "file", "what is wrong in a CSV file is told in our words, with its line", _reset_file
    ),
    Difference("overlap", "a partition named twice is one partition", _overlap),
    Difference("datetime", "seconds without a fraction are a time too", _datetime),
    Difference(
        "foreign group",
        "a share group is no unknown group; its offsets are not for consumers to set",
        _foreign_reset,
    ),
    Difference(
        "empty group", "a streams group without members is not silent, and no error", _empty_group
    ),
    Difference("not ready", "groups in this state are found by it", _not_ready),
    Difference(
        "foreign topic",
        "what is not an internal topic of the group is not deleted as one",
        _foreign_topic,
    ),
    Difference("undo", "what a reset replaces is saved first, and the file named", _undo),
    Difference("clamped", "what was clamped is told without a log line's date and class", _clamped),
    Difference("fallback", "a notice is no data: stderr", _fallback),
    Difference("failed row", "a partition that failed makes the exit code 1", _failed_rows),
    Difference(
        "good groups",
        "a group that is unknown or of another kind does not hide the others",
        _good_groups,
    ),
    Difference("failure", "a failure is told on stderr and ends with exit code 1", _failure),
    Difference("trace", "no Java, so no stack traces and no log lines", _without_traces),
)
