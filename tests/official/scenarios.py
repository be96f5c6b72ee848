"""Scenarios of Kafka's own test suites for these tools, as data.

Named by the Java test class and what its tests look at; each for a classic and a KIP-848 group
where the Java test runs for both protocols.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.kafka.workload import Offsets
from tests.official.world import LONG_TOPIC

HUNDRED: Final = {("reset-a", 0): 100}
BOTH: Final = ("live-classic", "live-modern")


@dataclass(frozen=True)
class Scenario:
    """One call and what has to come of it.

    Args:
        suite: Java test class.
        what: the scenario.
        line: official options without the cluster's address; `{f}` is a folder.
        rows: cells that rows of stdout must begin with.
        count: how many lines that are no header and not empty; None for any.
        err: what stderr must hold; empty: stderr must be empty.
        status: exit code.
        before: commits of groups, made first.
        after: commits of groups as they must be then.
    """

    suite: str
    what: str
    line: str
    rows: tuple[str, ...] = ()
    count: int | None = None
    err: str = ""
    status: int = 0
    before: Mapping[str, Offsets] = field(default_factory=dict)
    after: Mapping[str, Offsets] = field(default_factory=dict)


def _list() -> list[Scenario]:
    suite = "ListConsumerGroupTest"
    return [
        Scenario(suite, "plain", "--list", ("empty-odd", "live-classic", "live-modern")),
        Scenario(suite, "unknown option", "--list --new-consumer", err="new-consumer", status=1),
        Scenario(suite, "state: all", "--list --state", ("empty-odd Empty", "live-modern Stable")),
        Scenario(suite, "state: stable", "--list --state stable", ("live-classic Stable",)),
        Scenario(
            suite,
            "state: preparing",
            "--list --state PREPARINGREBALANCE",
            ("stuck-preparing PreparingRebalance",),
            1,
        ),
        Scenario(suite, "state: none", "--list --state Dead", count=0),
        Scenario(
            suite, "type: all", "--list --type", ("live-modern Consumer", "live-classic Classic")
        ),
        Scenario(suite, "type: consumer", "--list --type consumer", ("live-modern Consumer",), 4),
        Scenario(suite, "type: any case", "--list --type cLaSsIc", ("empty-odd Classic",)),
        Scenario(
            suite,
            "type and state",
            "--list --type consumer --state stable",
            ("live-modern Consumer Stable",),
            2,
        ),
        Scenario(
            suite, "bad state", "--list --state bad", err="Invalid state list 'bad'", status=1
        ),
        Scenario(suite, "bad type", "--list --type bad", err="Invalid types list 'bad'", status=1),
        Scenario(suite, "share", "--list --type share", err="Invalid types list", status=1),
    ]


def _describe() -> list[Scenario]:
    suite = "DescribeConsumerGroupTest"
    views: tuple[str, ...] = (
        "",
        "--offsets",
        "--offsets --verbose",
        "--members",
        "--members --verbose",
    )
    views = (*views, "--state", "--state --verbose")
    found = [
        Scenario(
            suite,
            f"unknown group {view}",
            f"--describe --group missing.group {view}",
            count=0,
            err="Group missing.group not found.",
            status=1,
        )
        for view in views
    ]
    for view in views:
        found += [
            Scenario(
                suite,
                f"no members {view}",
                f"--describe --group with-epochs {view}",
                ("with-epochs",) if "--members" not in view else (),
                None if "--members" not in view else 0,
                "Consumer group 'with-epochs' has no active members.",
            ),
            Scenario(
                suite,
                f"several groups {view}",
                f"--describe {view} --group live-classic --group live-modern --group live-static",
                ("live-classic", "live-modern", "live-static"),
            ),
            Scenario(
                suite,
                f"too little time {view}",
                f"--describe --group live-classic --timeout 0 {view}",
                count=0,
                err="TimeoutException",
                status=1,
            ),
        ]
    return found


def _describe_live() -> list[Scenario]:
    suite = "DescribeConsumerGroupTest"
    found = []
    for group in BOTH:
        found += [
            Scenario(suite, f"offsets of {group}", f"--describe --group {group}", (group,), 15),
            Scenario(suite, f"members of {group}", f"--describe --group {group} --members", (), 2),
        ]
    assignors = {"live-classic": "range", "live-robin": "roundrobin", "live-modern": "uniform"}
    found += [
        Scenario(
            suite,
            f"assignor of {group}",
            f"--describe --group {group} --state",
            (f"{group} {{b}} (1) {assignor} Stable 2",),
            1,
        )
        for group, assignor in assignors.items()
    ]
    wrong = (
        ("--members --state", "Option [describe] takes at most one of these options"),
        ("--state Stable", "Option [describe] does not take a value for [state]"),
        ("--new-consumer", "new-consumer is not a recognized option"),
    )
    found += [
        Scenario(suite, f"wrong {more}", f"--describe --group g {more}", err=err, status=1)
        for more, err in wrong
    ]
    found += [
        Scenario(
            suite,
            "simple group",
            "--describe --group simple --state",
            ("simple {b} (1) - Empty 0",),
            1,
            "Consumer group 'simple' has no active members.",
            before={"simple": {("audit", 0): 1, ("audit", 1): 0}},
        ),
        Scenario(
            suite,
            "never committed",
            "--describe --group live-static",
            ("live-static audit 0 - 7 -", "live-static audit 1 - 0 -"),
            3,
        ),
        Scenario(
            suite,
            "both protocols",
            "--describe --group mixed-protocols --members --verbose",
            ("mixed-protocols member-new",),
            2,
            "Warning: Consumer group 'mixed-protocols' is rebalancing.",
        ),
        Scenario(suite, "version", "--version", ("kgroups",), 1),
    ]
    return found


def _delete() -> list[Scenario]:
    suite = "DeleteConsumerGroupsTest"
    one = {"conf-a": {("audit", 0): 1}}
    two = {**one, "conf-b": {("audit", 0): 1}}
    gone = "could not be deleted due to: org.apache.kafka.common.errors."
    return [
        Scenario(
            suite,
            "topic without value",
            "--delete --topic",
            err="Option topic requires an argument",
            status=1,
        ),
        Scenario(
            suite,
            "unknown",
            "--delete --group missing.group",
            count=0,
            err=f"* Group 'missing.group' {gone}GroupIdNotFoundException",
            status=1,
        ),
        *(
            Scenario(
                suite,
                f"{group} is alive",
                f"--delete --group {group}",
                count=0,
                err=f"* Group '{group}' {gone}GroupNotEmptyException: The group is not empty.",
                status=1,
            )
            for group in BOTH
        ),
        Scenario(
            suite,
            "empty group",
            "--delete --group conf-a",
            ("Deletion of requested consumer groups ('conf-a') was successful.",),
            1,
            before=one,
        ),
        Scenario(
            suite,
            "two groups",
            "--delete --group conf-b --group conf-a",
            ("Deletion of requested consumer groups ('conf-a', 'conf-b') was successful.",),
            1,
            before=two,
        ),
        Scenario(
            suite,
            "good and missing",
            "--delete --group conf-a --group missing.group",
            ("These consumer groups were deleted successfully: 'conf-a'",),
            1,
            "Error: Deletion of some consumer groups failed:",
            1,
            before=one,
        ),
        Scenario(suite, "unknown option", "--delete --new-consumer", err="new-consumer", status=1),
    ]


def _delete_offsets() -> list[Scenario]:
    suite = "DeleteOffsetsConsumerGroupCommandIntegrationTest"
    partly = "Encountered some partition-level error, see the follow-up details."
    found = [
        Scenario(
            suite,
            "unknown group",
            "--delete-offsets --group missing.group --topic audit:0",
            ("audit 0 Error:",),
            1,
            "The group id does not exist.",
            1,
        )
    ]
    found += [
        Scenario(
            suite,
            f"{group} and {topic}",
            f"--delete-offsets --group {group} --topic {topic}",
            (f"{topic.partition(':')[0]} 0 Error:",),
            None,
            partly,
            1,
        )
        for group in BOTH
        for topic in ("orders:0", "orders", "foobar:0")
    ]
    before = {"conf-a": {("reset-b", 0): 4, ("audit", 0): 1}}
    found += [
        Scenario(
            suite,
            f"empty group {topic}",
            f"--delete-offsets --group conf-a --topic {topic}",
            ("Request succeeded for deleting", "reset-b 0 Successful"),
            before=before,
            after={"conf-a": {("audit", 0): 1}},
        )
        for topic in ("reset-b:0", "reset-b")
    ]
    found.append(
        Scenario(
            suite,
            "empty group, unknown topic",
            "--delete-offsets --group conf-a --topic foobar",
            ("Request succeeded for deleting", "foobar - Error:"),
            2,
            status=1,
            before=before,
            after=before,
        )
    )
    return found


def _reset() -> list[Scenario]:
    suite = "ResetConsumerGroupOffsetTest"
    targets = (
        ("yesterday", "--to-datetime 2020-01-01T00:00:00.000", 0),
        ("zone", "--to-datetime 2020-01-01T00:00:00.000Z", 0),
        ("PT1H", "--by-duration PT1H", 0),
        ("earliest", "--to-earliest", 0),
        ("latest", "--to-latest", 100),
        ("current", "--to-current", 60),
        ("offset", "--to-offset 1", 1),
        ("shift +", "--shift-by 30", 90),
        ("shift -", "--shift-by -30", 30),
    )
    clamps = (
        ("shift far back", "--shift-by -150", 0, "is lower than earliest offset"),
        ("shift far ahead", "--shift-by 150", 100, "is higher than latest offset"),
    )
    before = {"conf-a": {("reset-a", 1): 60, ("reset-a", 2): 5}}
    start = "--reset-offsets --execute --group conf-a --topic reset-a:1 "
    found = [
        Scenario(
            suite,
            what,
            start + options,
            (f"conf-a reset-a 1 {offset}",),
            1,
            before=before,
            after={"conf-a": {("reset-a", 1): offset, ("reset-a", 2): 5}},
        )
        for what, options, offset in targets
    ]
    found += [
        Scenario(
            suite,
            what,
            start + options,
            (f"conf-a reset-a 1 {offset}",),
            1,
            err,
            before=before,
            after={"conf-a": {("reset-a", 1): offset, ("reset-a", 2): 5}},
        )
        for what, options, offset, err in clamps
    ]
    found += [
        Scenario(
            suite,
            f"{(len(mode) and mode) or 'no mode'}, new group",
            f"--reset-offsets --group conf-new --topic reset-b:0 --to-offset 50 {mode}",
            ("conf-new reset-b 0 50",),
            1,
            "" if mode else "WARN: No action will be performed",
            before={"conf-new": {}},
            after={"conf-new": {("reset-b", 0): 50}} if mode == "--execute" else {},
        )
        for mode in ("", "--dry-run", "--execute")
    ]
    return found


def _reset_several() -> list[Scenario]:
    suite = "ResetConsumerGroupOffsetTest"
    two = {"conf-a": {("reset-b", 0): 1}, "conf-b": {("reset-b", 0): 2, (LONG_TOPIC, 0): 1}}
    return [
        Scenario(
            suite,
            "two groups, all topics",
            "--reset-offsets --group conf-a --group conf-b --all-topics --to-earliest --execute",
            ("conf-a reset-b 0 0", "conf-b reset-b 0 0", f"conf-b {LONG_TOPIC} 0 0"),
            3,
            before=two,
            after={
                "conf-a": {("reset-b", 0): 0},
                "conf-b": {("reset-b", 0): 0, (LONG_TOPIC, 0): 0},
            },
        ),
        Scenario(
            suite,
            "unknown group",
            "--reset-offsets --group missing.group --all-topics --to-current --execute",
            count=0,
        ),
        Scenario(
            suite,
            "two topics",
            f"--reset-offsets --group conf-b --topic reset-b:0 --topic {LONG_TOPIC} --to-latest "
            "--execute",
            ("conf-b reset-b 0 50", f"conf-b {LONG_TOPIC} 0 4"),
            2,
            before=two,
            after={"conf-b": {("reset-b", 0): 50, (LONG_TOPIC, 0): 4}},
        ),
        Scenario(
            suite,
            "partitions that do not exist",
            "--reset-offsets --group conf-a --topic reset-b:2,3 --to-latest --execute",
            count=0,
            err='The partitions "reset-b-2,reset-b-3" do not exist',
            status=1,
            before=two,
            after={"conf-a": two["conf-a"]},
        ),
        Scenario(
            suite,
            "nothing is written when one plan cannot be made",
            "--reset-offsets --group conf-a --group conf-b --topic reset-b:0 --topic reset-b:1 "
            "--shift-by 1 --execute",
            count=0,
            err="Cannot shift offset for partition reset-b-1",
            status=1,
            before=two,
            after=two,
        ),
        Scenario(
            suite,
            "unknown option",
            "--reset-offsets --new-consumer",
            err="new-consumer is not a recognized option",
            status=1,
        ),
        *(
            Scenario(
                suite,
                f"{group} is alive",
                f"--reset-offsets --group {group} --all-topics --to-earliest --execute",
                count=0,
                err=f"Assignments can only be reset if the group '{group}' is inactive",
                status=1,
            )
            for group in BOTH
        ),
    ]


def _command() -> list[Scenario]:
    suite = "ConsumerGroupCommandTest"
    return [
        Scenario(
            suite, "valid", "--validate-regex foo.*", ("The regular expression `foo.*` is valid.",)
        ),
        Scenario(
            suite,
            "invalid",
            "--validate-regex [foo.*",
            ("The regular expression `[foo.*` is invalid: missing closing ].",),
        ),
    ]


SCENARIOS: Final = (
    *_list(),
    *_describe(),
    *_describe_live(),
    *_delete(),
    *_delete_offsets(),
    *_reset(),
    *_reset_several(),
    *_command(),
)
