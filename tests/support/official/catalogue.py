"""Kafka's own tests of these tools by class and number, and what recreates each of them here.

The classes are those of Kafka's trunk in August 2026, 112 tests; number 9 of the describing ones is
gone there. A reference is one of

* `what`: a scenario of the class in `scenarios.py` whose name fits (`*` and `?` stand for letters),
* `module::test`: a test of this folder,
* `> words`: a command line of the differential test.
"""

from collections.abc import Mapping
from typing import Final

_ALONE = "test_alone::"
_BROKEN, _VALUES, _GUARDED = "test_broken::", "test_values::", "test_guarded::"
_CSV = "test_conformance::test_export_then_import"
_DESCRIBE = "> --bootstrap-server {b} --describe "
_OFFSETS = _DESCRIBE + "--group live-classic --group live-kip848"
_MEMBERS = _DESCRIBE + "--all-groups --members --verbose"
_STATE = _DESCRIBE + "--all-groups --state --verbose"
_STOPPED = _DESCRIBE + "--group empty-odd"
_IDLE = _DESCRIBE + "--group live-static --members"
"""Consumers of which some own nothing."""
_NOBODY = "> --bootstrap-server {b} --delete --group nobody"
_RECORDS = "test_requests::test_delete_records"
_LINE = "> --bootstrap-server {b} --offset-json-file {f}/"

CATALOGUE: Final[Mapping[str, Mapping[int, tuple[str, ...]]]] = {
    "ListConsumerGroupTest": {
        1: ("plain",),
        2: ("unknown option",),
        3: ("state: all", "state: stable", "state: preparing", "state: none"),
        4: (_ALONE + "test_types_of_classic_groups",),
        5: ("type: all", "type: consumer", "type: any case"),
        6: ("plain", "state: all", "type: all", "state: any case", "type: any case"),
        7: ("type: consumer", "type and state"),
        8: ("bad state", _VALUES + "test_states", _VALUES + "test_states_refused"),
        9: ("bad type", "share", _VALUES + "test_types", _VALUES + "test_types_refused"),
    },
    "DescribeConsumerGroupTest": {
        1: ("unknown group *",),
        2: ("unknown group *",),
        3: ("unknown group *",),
        4: ("unknown group *",),
        5: (_OFFSETS,),
        6: (_MEMBERS,),
        7: ("both protocols",),
        8: (_STATE,),
        10: ("several groups *",),
        11: ("all groups *",),
        12: ("offsets of *", _OFFSETS),
        13: ("members of *", _MEMBERS),
        14: (_STATE,),
        15: ("assignor of *",),
        16: ("no members *", _STOPPED),
        17: (_STOPPED,),
        18: (_MEMBERS,),
        19: (_STATE,),
        20: (_IDLE,),
        21: (_IDLE,),
        22: (_IDLE,),
        23: (_STATE,),
        24: (_OFFSETS,),
        25: (_OFFSETS,),
        26: (_MEMBERS,),
        27: (_STATE,),
        28: ("simple group", "simple group's commits"),
        29: ("too little time ",),
        30: ("too little time --offsets*",),
        31: ("too little time --members*",),
        32: ("too little time --state*",),
        33: ("never committed", "assignor of live-static"),
        34: (
            _BROKEN + "test_described_as_far_as_known",
            _BROKEN + "test_a_leaderless_partition_alone_is_no_failure",
        ),
        35: ("wrong --new-consumer",),
        36: ("wrong --members --state",),
        37: ("wrong --state Stable",),
        38: ("version",),
    },
    "DeleteConsumerGroupsTest": {
        1: ("topic without value",),
        2: ("unknown",),
        3: (_NOBODY,),
        4: ("live-* is alive",),
        5: ("empty group",),
        6: (_ALONE + "test_delete_all_groups", "two groups"),
        7: ("good and missing",),
        8: ("good and missing", _NOBODY),
        9: ("unknown option",),
    },
    "DeleteOffsetsConsumerGroupCommandIntegrationTest": {
        1: ("unknown group",),
        2: ("live-* and orders:0",),
        3: ("live-* and orders",),
        4: ("live-* and foobar:0",),
        5: ("live-* and foobar",),
        6: ("empty group reset-b:0",),
        7: ("empty group reset-b",),
        8: ("empty group, unknown partition",),
        9: ("empty group, unknown topic",),
    },
    "ResetConsumerGroupOffsetTest": {
        1: ("unknown group",),
        2: (_BROKEN + "test_reset_of_what_has_a_leader",),
        3: ("* new group",),
        4: (_ALONE + "test_reset_of_all_groups_on_a_topic", "two groups, all topics"),
        5: (_ALONE + "test_reset_of_all_groups_on_a_topic",),
        6: (_ALONE + "test_reset_of_all_groups_on_all_topics",),
        7: ("yesterday",),
        8: (_ALONE + "test_reset_to_a_moment_between_records", "zone"),
        9: ("PT1H",),
        10: ("PT0.1S",),
        11: ("no records",),
        12: ("earliest",),
        13: ("latest",),
        14: ("current",),
        15: ("offset",),
        16: ("shift +",),
        17: ("shift -",),
        18: ("shift far back",),
        19: ("shift far ahead",),
        20: ("one topic",),
        21: ("earliest", "offset"),
        22: ("two topics", "two whole topics"),
        23: ("one partition of each of two topics",),
        24: (_CSV,),
        25: (_CSV,),
        26: ("unknown option",),
        27: (_BROKEN + "test_reset_of_what_has_a_leader",),
        28: ("partitions that do not exist",),
    },
    "ConsumerGroupServiceTest": {
        1: ("test_requests::test_describe_asks_once",),
        2: ("test_requests::test_null_commits", _OFFSETS),
        3: ("test_requests::test_reset_of_an_unknown_group_asks_once",),
    },
    "ConsumerGroupCommandAuthorizationTest": {
        1: (_GUARDED + "test_describe_needs_describe_on_the_group",),
    },
    "ConsumerGroupCommandSaslAuthenticationTest": dict.fromkeys(
        range(1, 5), (_GUARDED + "test_login_with_scram",)
    ),
    "ConsumerGroupCommandTest": {1: ("valid",), 2: ("invalid",)},
    "DeleteRecordsCommandTest": {
        1: (_RECORDS,),
        2: (_LINE + "missing.json", "test_conformance::test_as_a_process"),
        3: (_LINE + "missing.json --command-config {f}/missing",),
        4: (_VALUES + "test_records_refused",),
        5: (_VALUES + "test_records_refused",),
        6: (_VALUES + "test_records", _LINE + "records.json"),
        7: (_LINE + "records.json",),
        8: (_LINE + "records-bad.json",),
        9: (_LINE + "records-twice.json", _RECORDS),
        10: (_LINE + "three.csv", _VALUES + "test_records_refused"),
    },
}

# The two system tests, which the 112 do not count.
SYSTEM: Final = dict.fromkeys((1, 2), (_GUARDED + "test_list_and_describe",))

# Scenarios of ours beside Kafka's: gaps of its suite.
MORE: Final[Mapping[str, tuple[str, ...]]] = {
    "ResetConsumerGroupOffsetTest": (
        "nothing is written when one plan cannot be made",
        "live-* is alive",
    ),
}
