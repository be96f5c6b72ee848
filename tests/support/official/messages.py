"""Every error and notice of Kafka's tools, and a line that brings ours to say its words on stderr.

Parts that name something of the line are as they come out for it. What is a result and not a
message (the verdict on a pattern, a successful deletion) is compared elsewhere.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from tests.support.kafka.official_tools import Tool
from tests.support.kafka.workload import Offsets


class Message(NamedTuple):
    """One message.

    Args:
        words: of the official tool.
        line: that has them said; `{b}` is the cluster's address, `{f}` the folder of the files.
        tool: which of Kafka's tools.
        offsets: commits to make before.
    """

    words: str
    line: str
    tool: Tool = "consumer-groups"
    offsets: Mapping[str, Offsets] = {}


_B = "--bootstrap-server {b} "
_NOBODY = "--bootstrap-server 127.0.0.1:1 --timeout 300 "
_FAILED = "Error: Executing consumer group command failed due to "
_ERRORS = "org.apache.kafka.common.errors."
_RES: Final[Mapping[str, Offsets]] = {"msg-a": {("reset-a", 0): 40, ("reset-b", 0): 7}}
_RESET = _B + "--reset-offsets --dry-run --group msg-a "
_RECORDS = _B + "--offset-json-file {f}/"

_USAGE = (
    Message("bogus is not a recognized option", _B + "--list --bogus"),
    Message("Option group requires an argument", _B + "--list --group"),
    Message(
        "Option(s) [verbose] are unavailable given other options on the command line",
        _B + "--list --verbose",
    ),
    Message('Missing required argument "[bootstrap-server]"', "--list"),
    Message(
        "Option [describe] takes one of these options: [all-groups], [group]", _B + "--describe"
    ),
    Message(
        "Option [describe] takes at most one of these options: [members], [offsets], [state]",
        _B + "--describe --group g --members --offsets",
    ),
    Message(
        "Option [describe] does not take a value for [state]",
        _B + "--describe --group g --state Stable",
    ),
    Message("Option [delete] takes one of these options: [all-groups], [group]", _B + "--delete"),
    Message(
        "The consumer does not support topic-specific offset deletion from a consumer group.",
        _B + "--delete --group g --topic t",
    ),
    Message(
        "Option [delete-offsets] takes the following options: [topic], [group]",
        _B + "--delete-offsets",
    ),
    Message(
        "Option [reset-offsets] only accepts one of [execute] and [dry-run]",
        _B + "--reset-offsets --group g --execute --dry-run",
    ),
    Message(
        "Option [reset-offsets] takes one of these options: [all-groups], [group]",
        _B + "--reset-offsets --dry-run",
    ),
    Message(
        'Option "[to-offset]" can\'t be used with option "[to-latest]"',
        _B + "--reset-offsets --group g --dry-run --to-offset 1 --to-latest",
    ),
    Message(
        'Option "[group]" can\'t be used with option "[all-groups]"',
        _B + "--describe --group g --all-groups",
    ),
    Message('Option "[group]" can\'t be used with option "[list]"', _B + "--list --group g"),
    Message('Option "[topic]" can\'t be used with option "[list]"', _B + "--list --topic t"),
    Message(
        'Option "[topic]" can\'t be used with option "[describe]"',
        _B + "--describe --group g --topic t",
    ),
    Message(
        "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, "
        "--delete-offsets, --validate-regex",
        _B + "--list --delete --all-groups",
    ),
    Message("Invalid state list 'x'. Valid states are: ", _B + "--list --state x"),
    Message("Invalid types list 'x'. Valid types are: ", _B + "--list --type x"),
    Message(
        "Invalid topic arg 't:0:1', expected topic name and partitions",
        _RESET + "--to-latest --topic t:0:1",
    ),
    Message(
        "Invalid partition 'x' specified in topic arg 't:x''", _RESET + "--to-latest --topic t:x"
    ),
    Message(
        "Cannot shift offset for partition reset-b-1 since there is no current committed offset",
        _RESET + "--shift-by 1 --topic reset-b",
        offsets=_RES,
    ),
    Message("Invalid negative offset", _RESET + "--from-file {f}/negative.csv", offsets=_RES),
    Message(
        "One of the reset scopes should be defined: --all-topics, --topic.",
        _RESET + "--to-latest",
        offsets=_RES,
    ),
    Message(
        "Option '[reset-offsets]' requires one of the following scenarios: ",
        _RESET + "--all-topics",
        offsets=_RES,
    ),
)
_FAILURES = (
    Message(_FAILED + "Cannot parse argument 'abc' of option timeout", _B + "--list --timeout abc"),
    Message(
        _FAILED + "Found multiple arguments for option state, but you asked for only one",
        _B + "--list --state Stable --state Empty",
    ),
    Message(
        _FAILED + "java.util.concurrent.ExecutionException: "
        "org.apache.kafka.common.KafkaException: Failed to find brokers to send ListGroups",
        _NOBODY + "--list",
    ),
    Message(_FAILED + "Failed to create new KafkaAdminClient", "--bootstrap-server nowhere --list"),
    Message(
        _FAILED + "java.nio.file.NoSuchFileException: ",
        _B + "--list --command-config {f}/missing.properties",
    ),
    Message(
        "Invalid value NONSENSE for configuration security.protocol: ",
        _B + "--list --command-config {f}/nonsense.properties",
    ),
    Message(
        _FAILED + _ERRORS + "TimeoutException: Timed out waiting for a node assignment. "
        "Call: describeConsumerGroups(api=FIND_COORDINATOR)",
        _NOBODY + "--describe --group g",
    ),
    Message(
        "Consumer group 'empty-odd' has no active members.", _B + "--describe --group empty-odd"
    ),
    Message(
        "Warning: Consumer group 'stuck-preparing' is rebalancing.",
        _B + "--describe --group stuck-preparing",
    ),
    Message(
        _FAILED + _ERRORS + "GroupIdNotFoundException: Group nobody not found.",
        _B + "--describe --group nobody",
    ),
    Message(
        _FAILED
        + _ERRORS
        + "GroupIdNotFoundException: Group share-readers is not a consumer group.",
        _B + "--describe --group share-readers",
    ),
    Message(
        "java.lang.IllegalArgumentException: GroupId connect-workers is not a consumer group "
        "(connect).",
        _B + "--describe --group connect-workers",
    ),
    Message(
        _FAILED + _ERRORS + "InvalidGroupIdException: The group id is invalid.",
        _B + "--describe --group ''",
    ),
    Message(
        "Error: Deletion of some consumer groups failed: * Group 'nobody' could not be deleted "
        f"due to: {_ERRORS}GroupIdNotFoundException: The group id does not exist.",
        _B + "--delete --group nobody",
    ),
    Message(
        f"due to: {_ERRORS}GroupNotEmptyException: The group is not empty.",
        _B + "--delete --group live-classic",
    ),
    Message("Error: The group id is invalid.", _B + "--delete-offsets --group '' --topic audit:0"),
    Message(
        "Error: The group id does not exist.",
        _B + "--delete-offsets --group nobody --topic audit:0",
    ),
    Message(
        "Error: The group is not empty.",
        _B + "--delete-offsets --group connect-workers --topic audit",
    ),
    Message(
        "Error: Encountered some partition-level error, see the follow-up details.",
        _B + "--delete-offsets --group live-classic --topic orders:0",
    ),
)
_RESETS = (
    Message(
        "WARN: No action will be performed as the --execute option is missing. In version 5.0, "
        "this command will require either --dry-run or --execute to be specified.",
        _B + "--reset-offsets --group msg-a --all-topics --to-latest",
        offsets=_RES,
    ),
    Message(
        "Error: Assignments can only be reset if the group 'live-classic' is inactive, but the "
        "current state is Stable.",
        _B + "--reset-offsets --group live-classic --all-topics --to-latest --dry-run",
    ),
    Message(
        _FAILED + 'The partitions "reset-b-7,reset-b-8" do not exist',
        _RESET + "--to-latest --topic reset-b:7,8",
    ),
    Message(
        _FAILED + "This server does not host this topic-partition.",
        _RESET + "--to-latest --topic nope",
    ),
    Message(
        "java.util.concurrent.ExecutionException: "
        f"{_ERRORS}UnknownTopicOrPartitionException: This server does not host this "
        "topic-partition.",
        _RESET + "--to-latest --topic nope:0",
    ),
    Message(
        _FAILED + "The request attempted to perform an operation on an invalid topic.",
        _RESET + "--to-latest --topic a,b",
    ),
    Message(
        "Failed to fetch metadata for partition nope-0 because metadata for topic `nope` could "
        "not be found",
        _RESET + "--from-file {f}/nope.csv",
        offsets=_RES,
    ),
    Message(
        "Error: No reset plan for group msg-a found.",
        _B + "--reset-offsets --dry-run --group other --group msg-a --from-file {f}/nobody.csv",
        offsets=_RES,
    ),
    Message(
        "WARN New offset (900) is higher than latest offset for topic partition reset-b-0. Value "
        "will be set to 50",
        _RESET + "--to-offset 900 --topic reset-b:0",
    ),
    Message(
        "WARN New offset (-5) is lower than earliest offset for topic partition reset-b-0. Value "
        "will be set to 0",
        _RESET + "--to-offset -5 --topic reset-b:0",
    ),
    Message(
        "Warn: Partition 0 from topic no-records is empty. Falling back to latest known offset.",
        _RESET + "--by-duration PT1H --topic no-records",
    ),
    Message(
        'java.text.ParseException: Unparseable date: "2020-13-01T00:00:00.000Z"',
        _RESET + "--to-datetime 2020-13-01T00:00:00.000 --topic reset-b",
    ),
    Message(
        "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format",
        _RESET + "--to-datetime 2020-01-01 --topic reset-b",
    ),
    Message("Text cannot be parsed to a Duration", _RESET + "--by-duration P1W --topic reset-b"),
    Message(
        f"{_ERRORS}UnsupportedVersionException: The version of API is not supported.",
        _RESET + "--by-duration P40000D --topic reset-b",
    ),
    Message(
        "java.io.IOException: Unable to read file ",
        _RESET + "--from-file {f}/missing.csv",
        offsets=_RES,
    ),
)
_OF_RECORDS = tuple(
    Message(words, _RECORDS + file, "delete-records")
    for words, file in (
        ("The input string is not a valid JSON", "three.csv"),
        ("Expected JSON object, received []", "list.json"),
        ('Expected `Integer` value, received "1"', "text-version.json"),
        ("Not supported version field value 2", "version.json"),
        ("Missing partitions field", "no-partitions.json"),
        ("Expected JSON array, received 5", "number.json"),
        ("No such field exists: `offset`", "no-offset.json"),
        ('Expected `Long` value, received "1"', "text-offset.json"),
        (
            "Offset json file contains duplicate topic partitions: records-0",
            "records-twice.json",
        ),
        ("Unable to read file ", "missing.json"),
        (
            f"partition: records-1 error: {_ERRORS}OffsetOutOfRangeException: The requested offset "
            "is not within the range of offsets maintained by the server.",
            "records-bad.json",
        ),
        (
            f"partition: compacted-0 error: {_ERRORS}PolicyViolationException: Request parameters "
            "do not satisfy the configured policy.",
            "records-bad.json",
        ),
        (f"{_ERRORS}InvalidTopicException", "internal.json"),
    )
)

MESSAGES: Final = (
    *_USAGE,
    *_FAILURES,
    *_RESETS,
    Message(
        'Missing required argument "[offset-json-file]"',
        "--bootstrap-server {b}",
        "delete-records",
    ),
    *_OF_RECORDS,
)

FILES: Final[Mapping[str, str]] = {
    "nonsense.properties": "security.protocol=NONSENSE\n",
    "list.json": "[]",
    "text-version.json": '{"version": "1", "partitions": []}',
    "version.json": '{"version": 2, "partitions": []}',
    "no-partitions.json": '{"version": 1}',
    "number.json": '{"partitions": 5}',
    "no-offset.json": '{"partitions": [{"topic": "records", "partition": 0}]}',
    "text-offset.json": '{"partitions": [{"topic": "records", "partition": 0, "offset": "1"}]}',
    "internal.json": '{"partitions": [{"topic": "__consumer_offsets", "partition": 0, '
    '"offset": 0}]}',
}

# Said on other clusters: the words are compared, or looked for, by these tests.
ELSEWHERE: Final[Mapping[str, str]] = {
    "FindCoordinator request for groupId `CoordinatorKey(idValue='g', type=GROUP)` failed due to "
    "authorization failure": "test_guarded::test_line",
    "The group has described topic(s) that the client is not authorized to describe.": (
        "test_guarded::test_line"
    ),
    "Topic authorization failed.": "test_guarded::test_line",
    "Group authorization failed.": "test_guarded::test_line",
    "Failed to fetch metadata for partition t-0 due to topic authorization failure": (
        "test_guarded::test_line"
    ),
    "Failed altering group offsets for the following partitions: [t-0]": "test_guarded::test_line",
    "SaslAuthenticationException": "test_guarded::test_login_with_scram",
    'The partitions "t-0" have no leader': "test_broken::test_reset_of_what_has_a_leader",
    "Encountered some unknown error: NAME": "test_broken::test_offsets_deleted_as_far_as_reached",
    "UnknownTopicOrPartitionException of a vanished topic": (
        "test_alone::test_vanished_topic_hides_nothing"
    ),
    "Consumer group 'g' does not exist.": "test_messages::test_dead_group",
}

# Never said by ours, with the reason; where it is a deviation, its name.
UNSAID: Final[Mapping[str, str]] = {
    "Duplicate key t-0 (attempted merging values …)": "deviation: overlap",
    "Too many entries: expected at most 4 …, and other words of the CSV parser": "deviation: file",
    "Call(callName=listOffsets(api=METADATA), deadlineMs=…, tries=…) timed out at …": (
        "deviation: vanished partition"
    ),
    "This tool helps to list, describe, delete and manage …": "deviation: usage",
    "Expected a valid consumer group state, but found 'X'.": (
        "a state that is newer than the tool is shown as the broker names it"
    ),
    "The consumer group 'g' does not exist.": "no state leads there in Kafka's own code",
    "'g' is not valid., Access to 'g' is not authorized., and other texts of 4.0 and before": (
        "the words are those of 4.4"
    ),
}
