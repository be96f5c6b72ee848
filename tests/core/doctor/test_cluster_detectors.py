"""Detectors of what is around a group: where each fires, and where it nearly does."""

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Final, get_args

import pytest

from kgroups.cli.commands.doctor.doctor_report import doctor_report
from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.deliveries import DeliveryRow
from kgroups.core.doctor.cluster_facts import (
    GroupSettings,
    MemberQuota,
    OffsetsPartition,
    PendingOffsets,
)
from kgroups.core.doctor.examine import DETECTORS, OF_SHARE_GROUPS, examine
from kgroups.core.doctor.facts import DoctorFacts, Part
from kgroups.core.history.broker_log import Elections
from kgroups.core.open_transactions import HeldPartition, OpenTransaction, Transactions
from kgroups.core.snapshot import Group
from tests.core.doctor.test_detectors import (
    BOTH,
    CASES,
    WELL,
    Made,
    facts,
    falling_behind,
    found,
    logs_of,
    only,
    watched,
)

ROOT: Final = Path(__file__).parents[3]
NOW_MS: Final = 10_000
MINUTE_MS: Final = 60_000
HELD: Final = only("t", last_stable_offset=90)
PLACE: Final[dict[str, object]] = {"topic": "t", "partition": 0}


def at(partition: int, first_offset: int, topic: str = "t") -> HeldPartition:
    """Where a transaction is open; the log ends at 100."""
    return HeldPartition(topic, partition, first_offset, 100, 0, 0, NOW_MS)


def open_for(ms: int, *places: HeldPartition, timeout_ms: int = MINUTE_MS) -> OpenTransaction:
    """A transaction, by default on ten records of partition 0."""
    return OpenTransaction(
        7, places or (at(0, 90),), 0, "pay-1", "Ongoing", 1, NOW_MS - ms, timeout_ms
    )


def unlisted(ms: int) -> OpenTransaction:
    """A transaction that no coordinator knows, whose first record is this old."""
    return OpenTransaction(7, (at(0, 90),), 0, started_at_ms=NOW_MS - ms)


def held(one: OpenTransaction, committed: int = 90, *, is_whole: bool = True) -> DoctorFacts:
    """Ten records of a transaction, and a commit."""
    given = facts(BOTH, logs=HELD, commits={"t": {0: committed}})
    untold = {} if is_whole else {1: "NOT_COORDINATOR"}
    return replace(given, transactions=Transactions((one,), unlisted=untold))


def pending(*transactions: OpenTransaction) -> DoctorFacts:
    """A transaction holds the offset of one partition."""
    holding = PendingOffsets(frozenset({("t", 0)}), Transactions(transactions))
    return replace(facts(BOTH), pending=holding)


def gap(stable: int) -> DoctorFacts:
    """The commit stands ten before the end, and a look found no record after it."""
    logs = {"t": {0: logs_of(100)["t"][0]._replace(last_stable_offset=stable)}}
    given = facts(BOTH, logs=logs, commits={"t": {0: 90}})
    return replace(watched(given, given), gaps=frozenset({("t", 0, 90)}))


def led(elections: int = 0, *, now: int = 1, then: int = 1) -> DoctorFacts:
    """A group whose coordinator was elected so often; brokers at two looks."""
    given = facts(BOTH)
    group = replace(given.group, coordinator=now, offsets_partition=3)
    return replace(
        given,
        group=group,
        before=replace(group, coordinator=then),
        offsets_partition=OffsetsPartition(WELL, elections),
    )


def sized(most: int | None) -> DoctorFacts:
    """A group of one member that may have so many."""
    return replace(facts(BOTH), settings=GroupSettings(most, "group.max.size"))


def limited(bytes_per_second: float) -> DoctorFacts:
    """A group whose member reads so much, and has a quota."""
    quota = MemberQuota("app", 1_000.0, bytes_per_second)
    return replace(watched(facts(BOTH), facts(BOTH)), quotas=[quota])


def configured(*names: str) -> DoctorFacts:
    """A name with these configurations and no group."""
    return replace(facts(state="Dead", commits={}), own_settings=names)


def delivered(gave_up: int) -> DoctorFacts:
    """A share group that has archived two records, and gave up on so many of them."""
    row = DeliveryRow("t", 0, 5, 100, 1, 3, 2, 0, 5, 4, 1, gave_up)
    return replace(facts(BOTH), deliveries=[row])


def locked(in_flight: int) -> DoctorFacts:
    """A share group with so many records in flight, of 100 that may be, and others that wait."""
    row = DeliveryRow("t", 0, 5, 400, in_flight=in_flight, record_lock_limit=100, no_state=50)
    return replace(facts(BOTH), deliveries=[row])


EVERY_CASE: Final[dict[str, tuple[Made, str, dict[str, object], Made]]] = {
    **CASES,
    "COORDINATOR_UNSTABLE": (
        lambda: led(8),
        "warning",
        {"topic": OFFSETS_TOPIC, "partition": 3},
        lambda: led(7),
    ),
    "GROUP_NEAR_LIMIT": (lambda: sized(1), "warning", {}, lambda: sized(2)),
    "THROTTLED": (lambda: limited(700), "warning", {"client_id": "app"}, lambda: limited(690)),
    "ORPHAN_CONFIG": (lambda: configured("consumer.session.timeout.ms"), "info", {}, configured),
    "RECORDS_ARCHIVED": (lambda: delivered(2), "warning", PLACE, lambda: delivered(0)),
    "LOCKS_EXHAUSTED": (lambda: locked(100), "warning", PLACE, lambda: locked(99)),
    "HANGING_TRANSACTION": (
        lambda: held(open_for(3 * MINUTE_MS)),
        "error",
        PLACE,
        lambda: held(open_for(20_000)),
    ),
    "OFFSETS_PENDING": (
        lambda: pending(open_for(40_000)),
        "warning",
        PLACE,
        lambda: pending(open_for(5_000)),
    ),
    "PHANTOM_LAG": (lambda: gap(100), "info", {"topic": "t"}, lambda: gap(95)),
}


def test_every_detector_has_a_case() -> None:
    """Nothing is left out."""
    assert EVERY_CASE.keys() == {detector.code for detector in DETECTORS}


def source_of(name: str, module: ast.Module) -> str:
    """A function of a module, and the functions and constants there that it needs, one by one."""
    parts: dict[str, ast.stmt] = {}
    for part in module.body:
        if isinstance(part, ast.FunctionDef):
            parts[part.name] = part
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            parts |= {
                node.id: part
                for at in targets
                for node in ast.walk(at)
                if isinstance(node, ast.Name)
            }
    needed, text = [name], ""
    for wanted in needed:
        part = parts[wanted]
        text += ast.unparse(part)
        names = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
        names |= {node.arg for node in ast.walk(part) if isinstance(node, ast.arg)}
        needed += sorted((names & parts.keys()) - set(needed))
    return text


def test_every_code_is_caused_on_a_real_broker() -> None:
    """By a fault of the table of libraries, or by a test of its own, which exists."""
    truth, scenes = (
        json.loads((ROOT / "tests" / "data" / f"doctor_{name}.json").read_text())
        for name in ("truth", "scenes")
    )
    caused = {row["code"] for row in (*truth.values(), *scenes.values())}
    assert caused == {detector.code for detector in DETECTORS}
    for row in scenes.values():
        file, name = row["test"].split("::")
        assert row["code"] in source_of(name, ast.parse((ROOT / file).read_text())), row


def test_gaps_wait_for_no_consumer() -> None:
    """An empty group with nothing but gaps to read needs none; with one record more it does."""
    idle = replace(gap(100), group=replace(gap(100).group, state="Empty", members=()))
    assert found(idle, "NO_CONSUMER") == []
    assert [finding.evidence["lag"] for finding in found(idle, "PHANTOM_LAG")] == [10]
    for unread in (replace(idle, gaps=frozenset()), replace(idle, snapshot=gap(95).snapshot)):
        assert [finding.evidence["lag"] for finding in found(unread, "NO_CONSUMER")] == [10]


def test_a_figure_that_a_right_lacks() -> None:
    """The document names it, of groups that have the finding."""
    why = "retention_seconds_left requires DESCRIBE_CONFIGS on topic `t`"
    both = [made().without(["retention"], why) for made in (falling_behind, lambda: facts(BOTH))]
    reasons = dict.fromkeys(get_args(Part), "not asked")
    report = doctor_report(both[0].snapshot, [examine(one) for one in both], reasons, csv=False)
    told = [
        {"code": "FALLING_BEHIND", "reason": why} in item["not_examined"] for item in report.items
    ]
    assert told == [True, False]


@pytest.mark.parametrize("code", EVERY_CASE)
def test_it_fires(code: str) -> None:
    """With its level and object, figures and a command."""
    make, level, where, _ = EVERY_CASE[code]
    (finding,) = found(make(), code)
    assert (finding.level, dict(finding.where)) == (level, where)
    assert finding.evidence or code == "PARTITIONS_UNAVAILABLE"
    assert finding.next.startswith("kgroups ")


@pytest.mark.parametrize("code", EVERY_CASE)
def test_it_is_silent_where_it_nearly_holds(code: str) -> None:
    """A healthy group is left in peace."""
    assert found(EVERY_CASE[code][3](), code) == []


@pytest.mark.parametrize(
    ("given", "level", "certainty"),
    [
        (open_for(30_000), "warning", "certain"),
        (open_for(90_000), "warning", "certain"),
        (open_for(90_001), "error", "certain"),
        (unlisted(15 * MINUTE_MS + 30_001), "warning", "possible"),
    ],
)
def test_the_level_of_a_transaction_grows_with_its_age(
    given: OpenTransaction, level: str, certainty: str
) -> None:
    """Half of its timeout, and half a minute after it; of a lost one nobody knows the start."""
    (finding,) = found(held(given), "HANGING_TRANSACTION")
    assert (finding.level, finding.certainty) == (level, certainty)


def test_a_transaction_of_a_short_timeout_may_take_ten_seconds() -> None:
    """Half of a second is no age."""
    assert found(held(open_for(9_999, timeout_ms=1_000)), "HANGING_TRANSACTION") == []
    assert found(held(open_for(10_000, timeout_ms=1_000)), "HANGING_TRANSACTION")


def test_two_looks_make_a_lost_transaction_likely() -> None:
    """The times of its records may be made up, but it was there before, at the same place."""
    given = held(unlisted(60 * MINUTE_MS))
    (finding,) = found(given, "HANGING_TRANSACTION")
    assert finding.next == "kgroups doctor g --over 30s"
    looked = replace(given, snapshot_before=given.snapshot, over_seconds=30.0)
    (finding,) = found(looked, "HANGING_TRANSACTION")
    assert (finding.level, finding.certainty) == ("error", "likely")
    elsewhere = facts(BOTH, logs=only("t", last_stable_offset=80)).snapshot
    (finding,) = found(replace(looked, snapshot_before=elsewhere), "HANGING_TRANSACTION")
    assert (finding.level, finding.certainty) == ("warning", "possible")


def test_nobody_says_that_a_transaction_is_lost_who_could_not_ask() -> None:
    """A coordinator that was not asked may know it."""
    given = held(unlisted(60 * MINUTE_MS), is_whole=False)
    looked = replace(given, snapshot_before=given.snapshot, over_seconds=30.0)
    (finding,) = found(looked, "HANGING_TRANSACTION")
    assert (finding.level, finding.certainty) == ("warning", "possible")


def test_a_group_that_reads_uncommitted_records_is_not_held() -> None:
    """It has committed what comes after the transaction."""
    assert found(held(open_for(60 * MINUTE_MS), committed=95), "HANGING_TRANSACTION") == []


def test_a_transaction_behind_another_one_holds_nothing_yet() -> None:
    """The last stable offset is the other one's."""
    assert found(held(open_for(60 * MINUTE_MS, at(0, 95))), "HANGING_TRANSACTION") == []


def test_one_finding_a_transaction() -> None:
    """With all the partitions that it holds, and what it holds back there."""
    logs = {"t": {n: HELD["t"][0]._replace(last_stable_offset=90 - n) for n in range(2)}}
    given = facts(BOTH, logs=logs, commits={"t": {0: 0, 1: 0}})
    one = open_for(60 * MINUTE_MS, at(0, 90), at(1, 89), at(0, 3, topic="other"))
    (finding,) = found(replace(given, transactions=Transactions((one,))), "HANGING_TRANSACTION")
    assert finding.where == {"topic": "t", "partition": 0}
    assert finding.evidence == {
        "producer_id": 7,
        "transactional_id": "pay-1",
        "open_seconds": 3_600,
        "transaction_timeout_seconds": 60.0,
        "partitions": 2,
        "records_held": 21,
    }


def test_several_transactions_on_one_partition_of_the_offsets() -> None:
    """Which of them holds this group is not told: an old one is only likely."""
    (finding,) = found(pending(open_for(40_000), open_for(0)), "OFFSETS_PENDING")
    assert (finding.certainty, finding.evidence["producer_id"]) == ("likely", 7)


def test_a_coordinator_that_moved_once_is_worth_knowing() -> None:
    """Brokers are restarted now and then."""
    (finding,) = found(led(1, now=2, then=1), "COORDINATOR_UNSTABLE")
    assert (finding.level, finding.evidence["coordinator_id_before"]) == ("info", 1)


@pytest.mark.parametrize(("per_hour", "level"), [(7, "info"), (8, "warning")])
def test_elections_that_a_log_tells_of(per_hour: int, level: str) -> None:
    """They are dated, and count where the records tell of fewer."""
    given = replace(led(1), elections=Elections(per_hour, NOW_MS))
    (finding,) = found(given, "COORDINATOR_UNSTABLE")
    assert (finding.level, finding.certainty) == (level, "certain")
    assert finding.evidence["elections_per_hour"] == per_hour
    assert finding.evidence["last_election_at"] == "1970-01-01T00:00:10.000Z"


def test_a_group_that_nobody_coordinates() -> None:
    """Only the partition of its commits is known."""
    lost = WELL._replace(leader=None, in_sync_replicas=())
    group = Group("g", "classic", None, offsets_partition=3)
    given = DoctorFacts(facts().snapshot, group, offsets_partition=OffsetsPartition(lost))
    (finding,) = examine(given).findings
    assert (finding.code, finding.level) == ("PARTITIONS_UNAVAILABLE", "error")
    assert finding.where == {"topic": OFFSETS_TOPIC, "partition": 3}
    assert "PARTITIONS_UNAVAILABLE" in dict(examine(given).not_examined), "of its topics"


def test_the_partition_of_the_commits_is_looked_at_too() -> None:
    """Without a copy of it the group is lost with its coordinator."""
    given = led()
    lacking = OffsetsPartition(WELL._replace(in_sync_replicas=(1,)))
    (finding,) = found(replace(given, offsets_partition=lacking), "PARTITIONS_UNAVAILABLE")
    assert (finding.level, finding.where) == ("warning", {"topic": OFFSETS_TOPIC, "partition": 3})
    assert found(given, "PARTITIONS_UNAVAILABLE") == []


def test_a_group_without_a_limit_is_far_from_it() -> None:
    """Brokers before KIP-848 have none for its groups."""
    assert found(sized(None), "GROUP_NEAR_LIMIT") == []


def test_share_groups() -> None:
    """Only what holds for them is looked for, and only of them are deliveries missed."""
    given = replace(facts(BOTH), deliveries=None)
    shared = replace(given, group=replace(given.group, type="share"))
    looked = examine(shared)
    codes = {each.code for each in looked.findings} | {code for code, _ in looked.not_examined}
    assert ("RECORDS_ARCHIVED", "deliveries") in looked.not_examined
    assert codes <= OF_SHARE_GROUPS
    assert "RECORDS_ARCHIVED" not in {code for code, _ in examine(facts(BOTH)).not_examined}
    waiting = facts(state="Empty", commits={"t": {0: 5}})
    (found,) = examine(replace(waiting, group=replace(waiting.group, type="share"))).findings
    assert (found.code, found.next) == ("NO_CONSUMER", "kgroups describe g --deliveries")
