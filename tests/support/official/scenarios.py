"""Scenarios of Kafka's own test suites for these tools, as data.

Named by the Java test class and what its tests look at; each for a classic and a KIP-848 group
where the Java test runs for both protocols. `catalogue.py` has them all by their numbers.
"""

from typing import Final

from tests.support.official.reset_scenarios import RESETS
from tests.support.official.scenario import BOTH, Scenario


def _list() -> list[Scenario]:
    suite = "ListConsumerGroupTest"
    return [
        Scenario(suite, "plain", "--list", ("empty-odd", "live-classic", "live-kip848")),
        Scenario(suite, "unknown option", "--list --new-consumer", err="new-consumer", status=1),
        Scenario(suite, "state: all", "--list --state", ("empty-odd Empty", "live-kip848 Stable")),
        Scenario(suite, "state: stable", "--list --state stable", ("live-classic Stable",)),
        Scenario(
            suite,
            "state: preparing",
            "--list --state PREPARINGREBALANCE",
            ("stuck-preparing PreparingRebalance",),
            1,
        ),
        Scenario(suite, "state: none", "--list --state Dead", count=0),
        Scenario(suite, "state: any case", "--list --state eMpTy", ("empty-odd Empty",)),
        Scenario(
            suite, "type: all", "--list --type", ("live-kip848 Consumer", "live-classic Classic")
        ),
        Scenario(
            suite,
            "type: consumer",
            "--list --type consumer",
            ("live-kip848 Consumer", "mixed-protocols Consumer"),
            absent=("live-classic", "empty-odd"),
        ),
        Scenario(suite, "type: any case", "--list --type cLaSsIc", ("empty-odd Classic",)),
        Scenario(
            suite,
            "type and state",
            "--list --type consumer --state stable",
            ("live-kip848 Consumer Stable", "live-kip848-range Consumer Stable"),
            absent=("mixed-protocols", "stuck-reconciling", "live-classic"),
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
                f"--describe {view} --group live-classic --group live-kip848 --group live-static",
                ("live-classic", "live-kip848", "live-static"),
            ),
            Scenario(
                suite,
                f"all groups {view}",
                f"--describe --all-groups {view}",
                ("live-classic", "live-kip848", "live-static", "mixed-protocols"),
                err="Consumer group 'with-epochs' has no active members.",
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
    assignors = {"live-classic": "range", "live-robin": "roundrobin", "live-kip848": "uniform"}
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
            "simple group's commits",
            "--describe --group simple",
            ("simple audit 0 1 7 6 - - -", "simple audit 1 0 0 0 - - -"),
            2,
            "Consumer group 'simple' has no active members.",
            before={"simple": {("audit", 0): 1, ("audit", 1): 0}},
        ),
        Scenario(
            suite,
            "never committed: state",
            "--describe --group live-static --state",
            ("live-static {b} (1) range Stable 4",),
            1,
        ),
        Scenario(
            suite,
            "assignor of live-kip848-range",
            "--describe --group live-kip848-range --state",
            ("live-kip848-range {b} (1) range Stable 1",),
            1,
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
            (
                "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS CURRENT-EPOCH CURRENT-ASSIGNMENT "
                "TARGET-EPOCH TARGET-ASSIGNMENT UPGRADED",
                "mixed-protocols member-new",
            ),
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
    found += [
        Scenario(
            suite,
            f"{group} and foobar",
            f"--delete-offsets --group {group} --topic foobar",
            (f"Request succeeded for deleting offsets from group {group}.", "foobar - Error:"),
            2,
            status=1,
        )
        for group in BOTH
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
    return [
        *found,
        Scenario(
            suite,
            "empty group, unknown topic",
            "--delete-offsets --group conf-a --topic foobar",
            ("Request succeeded for deleting", "foobar - Error:"),
            2,
            status=1,
            before=before,
            after=before,
        ),
        Scenario(
            suite,
            "empty group, unknown partition",
            "--delete-offsets --group conf-a --topic foobar:0",
            ("foobar 0 Error:",),
            1,
            partly,
            1,
            before,
            before,
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
    *RESETS,
    *_command(),
)
