"""Scenarios of Kafka's own test suites for these tools, as data.

Named by the Java test class and what its tests look at; each for a classic and a KIP-848 group
where the Java test runs for both protocols. `catalogue.py` has them all by their numbers.
"""

from functools import partial
from typing import Final

from tests.support.official.reset_scenarios import RESETS
from tests.support.official.scenario import BOTH, Scenario

_listing = partial(Scenario, "ListConsumerGroupTest")
_describing = partial(Scenario, "DescribeConsumerGroupTest")
_deleting = partial(Scenario, "DeleteConsumerGroupsTest")
_forgetting = partial(Scenario, "DeleteOffsetsConsumerGroupCommandIntegrationTest")
_validating = partial(Scenario, "ConsumerGroupCommandTest")


def _list() -> list[Scenario]:
    return [
        _listing("plain", "--list", ("empty-odd", "live-classic", "live-kip848")),
        _listing("unknown option", "--list --new-consumer", err="new-consumer", status=1),
        _listing("state: all", "--list --state", ("empty-odd Empty", "live-kip848 Stable")),
        _listing("state: stable", "--list --state stable", ("live-classic Stable",)),
        _listing(
            "state: preparing",
            "--list --state PREPARINGREBALANCE",
            ("stuck-preparing PreparingRebalance",),
            1,
        ),
        _listing("state: none", "--list --state Dead", count=0),
        _listing("state: any case", "--list --state eMpTy", ("empty-odd Empty",)),
        _listing("type: all", "--list --type", ("live-kip848 Consumer", "live-classic Classic")),
        _listing(
            "type: consumer",
            "--list --type consumer",
            ("live-kip848 Consumer", "mixed-protocols Consumer"),
            absent=("live-classic", "empty-odd"),
        ),
        _listing("type: any case", "--list --type cLaSsIc", ("empty-odd Classic",)),
        _listing(
            "type and state",
            "--list --type consumer --state stable",
            ("live-kip848 Consumer Stable", "live-kip848-range Consumer Stable"),
            absent=("mixed-protocols", "stuck-reconciling", "live-classic"),
        ),
        _listing("bad state", "--list --state bad", err="Invalid state list 'bad'", status=1),
        _listing("bad type", "--list --type bad", err="Invalid types list 'bad'", status=1),
        _listing("share", "--list --type share", err="Invalid types list", status=1),
    ]


def _describe() -> list[Scenario]:
    shown = ("", "--offsets", "--members", "--state")
    views = [*shown, *(f"{view} --verbose" for view in shown[1:])]
    found = []
    for view in views:
        found += [
            _describing(
                f"unknown group {view}",
                f"--describe --group missing.group {view}",
                count=0,
                err="Group missing.group not found.",
                status=1,
            ),
            _describing(
                f"no members {view}",
                f"--describe --group with-epochs {view}",
                ("with-epochs",) if "--members" not in view else (),
                None if "--members" not in view else 0,
                "Consumer group 'with-epochs' has no active members.",
            ),
            _describing(
                f"several groups {view}",
                f"--describe {view} --group live-classic --group live-kip848 --group live-static",
                ("live-classic", "live-kip848", "live-static"),
            ),
            _describing(
                f"all groups {view}",
                f"--describe --all-groups {view}",
                ("live-classic", "live-kip848", "live-static", "mixed-protocols"),
                err="Consumer group 'with-epochs' has no active members.",
            ),
            _describing(
                f"too little time {view}",
                f"--describe --group live-classic --timeout 0 {view}",
                count=0,
                err="TimeoutException",
                status=1,
            ),
        ]
    return found


def _describe_live() -> list[Scenario]:
    states = {
        "live-classic": "(1) range Stable 2",
        "live-robin": "(1) roundrobin Stable 2",
        "live-kip848": "(1) uniform Stable 2",
        "live-kip848-range": "(1) range Stable 1",
        "live-static": "(1) range Stable 4",
    }
    found = [
        *(_describing(f"offsets of {g}", f"--describe --group {g}", (g,), 15) for g in BOTH),
        *(_describing(f"members of {g}", f"--describe --group {g} --members", (), 2) for g in BOTH),
        *(
            _describing(
                f"assignor of {group}",
                f"--describe --group {group} --state",
                (f"{group} {{b}} {state}",),
                1,
            )
            for group, state in states.items()
        ),
    ]
    wrong = (
        ("--members --state", "Option [describe] takes at most one of these options"),
        ("--state Stable", "Option [describe] does not take a value for [state]"),
        ("--new-consumer", "new-consumer is not a recognized option"),
    )
    found += [
        _describing(f"wrong {more}", f"--describe --group g {more}", err=err, status=1)
        for more, err in wrong
    ]
    found += [
        _describing(
            "simple group",
            "--describe --group simple --state",
            ("simple {b} (1) - Empty 0",),
            1,
            "Consumer group 'simple' has no active members.",
            before={"simple": {("audit", 0): 1, ("audit", 1): 0}},
        ),
        _describing(
            "simple group's commits",
            "--describe --group simple",
            ("simple audit 0 1 7 6 - - -", "simple audit 1 0 0 0 - - -"),
            2,
            "Consumer group 'simple' has no active members.",
            before={"simple": {("audit", 0): 1, ("audit", 1): 0}},
        ),
        _describing(
            "never committed",
            "--describe --group live-static",
            ("live-static audit 0 - 7 -", "live-static audit 1 - 0 -"),
            3,
        ),
        _describing(
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
        _describing("version", "--version", ("kgroups",), 1),
    ]
    return found


def _delete() -> list[Scenario]:
    one = {"conf-a": {("audit", 0): 1}}
    two = {**one, "conf-b": {("audit", 0): 1}}
    gone = "could not be deleted due to: org.apache.kafka.common.errors."
    return [
        _deleting(
            "topic without value",
            "--delete --topic",
            err="Option topic requires an argument",
            status=1,
        ),
        _deleting(
            "unknown",
            "--delete --group missing.group",
            count=0,
            err=f"* Group 'missing.group' {gone}GroupIdNotFoundException",
            status=1,
        ),
        *(
            _deleting(
                f"{group} is alive",
                f"--delete --group {group}",
                count=0,
                err=f"* Group '{group}' {gone}GroupNotEmptyException: The group is not empty.",
                status=1,
            )
            for group in BOTH
        ),
        _deleting(
            "empty group",
            "--delete --group conf-a",
            ("Deletion of requested consumer groups ('conf-a') was successful.",),
            1,
            before=one,
        ),
        _deleting(
            "two groups",
            "--delete --group conf-b --group conf-a",
            ("Deletion of requested consumer groups ('conf-a', 'conf-b') was successful.",),
            1,
            before=two,
        ),
        _deleting(
            "good and missing",
            "--delete --group conf-a --group missing.group",
            ("These consumer groups were deleted successfully: 'conf-a'",),
            1,
            "Error: Deletion of some consumer groups failed:",
            1,
            before=one,
        ),
        _deleting("unknown option", "--delete --new-consumer", err="new-consumer", status=1),
    ]


def _delete_offsets() -> list[Scenario]:
    partly = "Encountered some partition-level error, see the follow-up details."
    found = [
        _forgetting(
            "unknown group",
            "--delete-offsets --group missing.group --topic audit:0",
            ("audit 0 Error:",),
            1,
            "The group id does not exist.",
            1,
        )
    ]
    found += [
        _forgetting(
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
        _forgetting(
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
        _forgetting(
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
        _forgetting(
            "empty group, unknown topic",
            "--delete-offsets --group conf-a --topic foobar",
            ("Request succeeded for deleting", "foobar - Error:"),
            2,
            status=1,
            before=before,
            after=before,
        ),
        _forgetting(
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
    return [
        _validating(
            "valid", "--validate-regex foo.*", ("The regular expression `foo.*` is valid.",)
        ),
        _validating(
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
