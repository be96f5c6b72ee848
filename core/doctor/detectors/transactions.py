"""Do transactions hold the group back, or make up its lag?"""

from collections.abc import Iterator
from shlex import quote
from typing import NamedTuple

from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Certainty, Finding, Level
from kgroups.core.doctor.thresholds import HELD_S, MOST_OPEN_MS, OPEN_MS, OPEN_SHARE, OVERDUE_MS
from kgroups.core.lag.group_lag import OffsetRow
from kgroups.core.offsets.scope import log_of
from kgroups.core.open_transactions import HeldPartition, OpenTransaction, Transactions


class Judged(NamedTuple):
    """How bad it is that a transaction is open."""

    level: Level
    certainty: Certainty
    open_ms: int


def judged(txn: OpenTransaction, now_ms: int, *, is_sure: bool) -> Judged | None:
    """Judgement of an open transaction; None of one that is as young as others.

    Its coordinator aborts it when it has timed out. One that is open long after, or that no
    coordinator knows, is not ended (KIP-664).

    Args:
        is_sure: whether nobody knows one that is said to be unknown, and it is as old as it seems.
    """
    if txn.started_at_ms is None:
        return None
    open_ms = now_ms - txn.started_at_ms
    timeout_ms = txn.timeout_ms or MOST_OPEN_MS
    if open_ms > timeout_ms + OVERDUE_MS:
        if txn.is_known:
            return Judged("error", "certain", open_ms)
        if is_sure:
            return Judged("error", "likely", open_ms)
        return Judged("warning", "possible", open_ms)
    if txn.is_known and open_ms >= max(OPEN_MS, OPEN_SHARE * timeout_ms):
        return Judged("warning", "certain", open_ms)
    return None


def holds_back(facts: DoctorFacts, row: OffsetRow) -> bool:
    """Whether a `read_committed` member with this commit gets no further than a transaction.

    A group that has committed what comes after it reads uncommitted records.
    """
    log = facts.log_of(row.topic, row.partition)
    stable, end = log.last_stable_offset, log.log_end_offset
    is_open = stable is not None and end is not None and stable < end
    return is_open and (row.committed_offset is None or row.committed_offset <= (stable or 0))


def hanging_transaction(facts: DoctorFacts) -> Iterator[Finding]:
    """An open transaction keeps `read_committed` members from what was written after it."""
    listed = facts.transactions or Transactions()
    behind = {(row.topic, row.partition) for row in facts.rows or () if holds_back(facts, row)}
    for txn in listed.open:
        places = [
            held
            for held in txn.partitions
            if held.at in behind and held.first_offset == facts.log_of(*held.at).last_stable_offset
        ]
        is_sure = not listed.unlisted and any(_was_open(facts, held) for held in places)
        judgement = judged(txn, facts.snapshot.captured_at_ms, is_sure=is_sure)
        if not places or judgement is None:
            continue
        topic, partition = places[0].at
        is_doubtful = judgement.certainty == "possible" and facts.snapshot_before is None
        yield Finding(
            "HANGING_TRANSACTION",
            judgement.level,
            judgement.certainty,
            "members that read committed records wait for its end",
            f"kgroups doctor {facts.word} --over 30s"
            if is_doubtful
            else f"kgroups transactions {facts.word}",
            {"topic": topic, "partition": partition},
            {
                **_evidence(txn, judgement),
                "partitions": len(places),
                "records_held": sum(held.records_held or 0 for held in places),
            },
        )


def offsets_pending(facts: DoctorFacts) -> Iterator[Finding]:
    """An open transaction holds the group's offsets: members that start wait for its end."""
    pending = facts.pending
    if pending is None or not pending.partitions:
        return
    now_ms, listed = facts.snapshot.captured_at_ms, pending.transactions
    for txn in listed.open:  # the oldest one: which of them holds this group is not told
        judgement = judged(txn, now_ms, is_sure=not listed.unlisted)
        if judgement is None:
            return
        topic, partition = min(pending.partitions)
        yield Finding(
            "OFFSETS_PENDING",
            judgement.level,
            judgement.certainty if len(listed.open) == 1 else "likely",
            "members that start, or are given its partitions, wait for its end",
            f"kgroups transactions {facts.word}",
            {"topic": topic, "partition": partition},
            {**_evidence(txn, judgement), "partitions": len(pending.partitions)},
        )
        return


def phantom_lag(facts: DoctorFacts) -> Iterator[Finding]:
    """Lag with nothing to read: compaction took the records, or they are ends of transactions."""
    lags: dict[str, list[int]] = {}
    for row in facts.rows or ():
        if row.lag and facts.is_phantom(row):
            lags.setdefault(row.topic, []).append(row.lag)
    for topic, lags_of in lags.items():
        yield Finding(
            "PHANTOM_LAG",
            "info",
            "certain",
            "its lag counts in alarms, and is gone with the next record",
            f"kgroups describe {facts.word} --topic {quote(topic)} --over 10s",
            {"topic": topic},
            {"lag": sum(lags_of), "partitions": len(lags_of), "over_seconds": facts.over_seconds},
        )


def _was_open(facts: DoctorFacts, held: HeldPartition) -> bool:
    """Whether the transaction already held the partition at the look before."""
    if facts.snapshot_before is None or (facts.over_seconds or 0) < HELD_S:
        return False
    log = log_of(facts.snapshot_before.topics, held.at)
    return log is not None and log.last_stable_offset == held.first_offset


def _evidence(txn: OpenTransaction, judgement: Judged) -> dict[str, object]:
    return {
        "producer_id": txn.producer_id,
        "transactional_id": txn.transactional_id,
        "open_seconds": round(judgement.open_ms / 1_000),
        "transaction_timeout_seconds": None if txn.timeout_ms is None else txn.timeout_ms / 1_000,
    }
