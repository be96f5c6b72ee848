"""kafka-delete-records.sh: records below an offset go, partition by partition."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kgroups.cli.audit_log import tell
from kgroups.cli.exits import show_error
from kgroups.cli.interruption import Interruption, not_waited_for
from kgroups.cli.official.arguments import Arguments, LateError, ParseError
from kgroups.cli.official.layouts import RECORDS_BEGIN, RECORDS_DONE, record_line
from kgroups.cli.official.official_cluster import NoClient, open_cluster
from kgroups.cli.official.streams import fail_command, notice, say, show
from kgroups.cli.official.tools import RECORDS_TOOL
from kgroups.cli.official.validation import Misuse, opening
from kgroups.cli.official.words import doubt_text, exception_text
from kgroups.core.errors import (
    EXIT_CODE_INTERRUPTED,
    ItemError,
    KgroupsError,
    RefusedError,
    UsageError,
    shorten,
)
from kgroups.core.input_files.files import MIB, read_text
from kgroups.core.input_files.json_text import check_json_cost, parse_json
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.doubts import Doubts
from kgroups.core.kafka.writes.record_deletion import delete_records
from kgroups.core.offsets.result import Doubt, result_of
from kgroups.core.snapshot import TopicPartition

TIMEOUT_MS: Final = 60_000
"""Of Java's client, where `default.api.timeout.ms` does not say another one."""
MAX_BYTES: Final = 16 * MIB
INT: Final = range(-(2**31), 2**31)
LONG: Final = range(-(2**63), 2**63)


class BadFile(Misuse):
    """The JSON file cannot be understood."""


def run_records(words: Sequence[str]) -> int:
    """The exit code of `kafka-delete-records.sh WORDS`, run by us."""
    try:
        arguments = opening(words, RECORDS_TOOL)
        if isinstance(arguments, int):
            return arguments
        for name in ("bootstrap-server", "offset-json-file"):
            if not arguments.has(name):
                raise Misuse(f'Missing required argument "[{name}]"')
        return _delete_records(arguments)
    except (ParseError, Misuse) as error:
        show_error(error)
    except LateError as error:
        say(str(error))
    except NoClient as error:
        say(error.message.removeprefix("java.nio.file.NoSuchFileException: "))
    except RefusedError as error:  # by a guard
        fail_command(RECORDS_TOOL, error.message, error.hint)
        return error.exit_code
    except KgroupsError as error:
        say(exception_text(error.code, error.message))
    return 1


def _delete_records(arguments: Arguments) -> int:
    with open_cluster(arguments, client_ms=TIMEOUT_MS, to_change=True) as admin:
        before = offsets_of(_read(arguments.value("offset-json-file") or ""))
        show(RECORDS_BEGIN)
        with Interruption(admin) as interruption:
            try:
                outcomes = _sent(admin, before, interruption) if before else {}
            except KgroupsError as error:
                if not interruption.asked:
                    raise
                say(exception_text(error.code, error.message))
                return EXIT_CODE_INTERRUPTED
            tell("done" if isinstance(a, int) else result_of(a) for a in outcomes.values())
            show(RECORDS_DONE)
            failed = False
            for at, outcome in sorted(outcomes.items()):
                if isinstance(outcome, int):
                    show(record_line(at, outcome))
                else:
                    failed = True
                    notice(f"partition: {at[0]}-{at[1]} error: {_reason(at, outcome)}")
            return EXIT_CODE_INTERRUPTED if interruption.asked else int(failed)


def _sent(
    admin: ClusterAdmin, before: Mapping[TopicPartition, int], interruption: Interruption
) -> dict[TopicPartition, int | ItemError]:
    """The new start of each partition's log, or why it has none, or that this is not known."""
    doubts: Doubts[TopicPartition] = Doubts()
    answers = interruption.send(lambda: delete_records(admin, before, doubts))
    if answers is None:
        return {at: not_waited_for(f"{at[0]}-{at[1]}") for at in before}
    results: dict[TopicPartition, int | ItemError] = {}
    for at, outcome in answers.items():
        if isinstance(outcome, int):
            results[at] = outcome
            continue
        error = doubts.error(at, f"{at[0]}-{at[1]}", outcome)
        assert error is not None, "what failed has a reason"
        results[at] = error
    return results


def _reason(at: TopicPartition, error: ItemError) -> str:
    """Why the records of a partition are still there, or may be."""
    if isinstance(error, Doubt):
        return doubt_text(error)
    text = None
    if error.code == "TOPIC_AUTHORIZATION_FAILED":
        text = (
            f"Failed to fetch metadata for partition {at[0]}-{at[1]} due to topic "
            "authorization failure"
        )
    return exception_text(error.code, text)


def _read(path: str) -> str:
    try:
        return read_text(Path(path), MAX_BYTES, "JSON")
    except UsageError as error:
        raise BadFile(f"Unable to read file {path}") from error


def offsets_of(text: str) -> dict[TopicPartition, int]:
    """Partitions and the first offset that each keeps.

    Raises:
        BadFile: the text is no such JSON; the message is the official one.
    """
    try:
        check_json_cost(text.encode(), "the input string")
        document = parse_json(text, "the input string", twice=True)
    except UsageError as error:
        raise BadFile("The input string is not a valid JSON") from error
    if not isinstance(document, dict):
        raise BadFile(f"Expected JSON object, received {_shown(document)}")
    version = _number(document["version"], "Integer", INT) if "version" in document else 1
    if version != 1:
        raise BadFile(f"Not supported version field value {version}")
    if "partitions" not in document:
        raise BadFile("Missing partitions field")
    rows = document["partitions"]
    if not isinstance(rows, list):
        raise BadFile(f"Expected JSON array, received {_shown(rows)}")
    offsets: dict[TopicPartition, int] = {}
    twice: dict[TopicPartition, None] = {}
    for row in rows:
        if not isinstance(row, dict):
            raise BadFile(f"Expected JSON object, received {_shown(row)}")
        topic = _field(row, "topic")
        if not isinstance(topic, str):
            raise BadFile(f"Expected `String` value, received {_shown(topic)}")
        at = (topic, _number(_field(row, "partition"), "Integer", INT))
        offset = _number(_field(row, "offset"), "Long", LONG)
        if at in offsets:
            twice[at] = None
        offsets[at] = offset
    if twice:
        names = ",".join(f"{topic}-{number}" for topic, number in twice)
        raise BadFile(f"Offset json file contains duplicate topic partitions: {names}")
    return offsets


def _field(row: dict[str, Any], name: str) -> Any:
    if name not in row:
        raise BadFile(f"No such field exists: `{name}`")
    return row[name]


def _number(value: Any, kind: str, allowed: range) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
        raise BadFile(f"Expected `{kind}` value, received {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    return shorten(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
