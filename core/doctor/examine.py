"""Runs the detectors on a group: what they found, worst first, and what could not be examined."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from kgroups.core.doctor.detectors import (
    cluster,
    conflicts,
    consumption,
    positions,
    stability,
    topic_health,
    transactions,
)
from kgroups.core.doctor.facts import DoctorFacts, Part
from kgroups.core.doctor.finding import Finding
from kgroups.core.doctor.proofs import Prover


class Detector(NamedTuple):
    """One detector, its code, and which parts of the facts it cannot do without."""

    code: str
    needs: tuple[Part, ...]
    detect: Callable[[DoctorFacts], Iterable[Finding]]


DETECTORS: Final = (
    Detector("NO_CONSUMER", ("offsets", "members"), consumption.no_consumer),
    Detector("STALLED_PARTITION", ("offsets", "history"), positions.poison_record),
    Detector("STALLED_PARTITION", ("offsets", "rates"), consumption.stalled_partition),
    Detector("FALLING_BEHIND", ("offsets", "rates"), consumption.falling_behind),
    Detector("HOT_PARTITION", ("offsets", "members"), consumption.hot_partition),
    Detector("DATA_LOST", ("offsets",), topic_health.data_lost),
    Detector("OFFSETS_EXPIRING", ("expiry",), topic_health.offsets_expiring),
    Detector("TOPIC_MISSING", ("offsets",), topic_health.topic_missing),
    Detector("STALE_COMMITS", ("offsets", "members"), topic_health.stale_commits),
    Detector("PARTITIONS_UNAVAILABLE", ("offsets_partition",), topic_health.commits_unavailable),
    Detector("PARTITIONS_UNAVAILABLE", ("offsets",), topic_health.partitions_unavailable),
    Detector("COORDINATOR_UNSTABLE", ("offsets_partition",), cluster.coordinator_unstable),
    Detector("GROUP_NEAR_LIMIT", ("members", "settings"), cluster.group_near_limit),
    Detector("THROTTLED", ("rates", "quotas"), cluster.throttled),
    Detector("ORPHAN_CONFIG", ("own_settings",), cluster.orphan_config),
    Detector("HANGING_TRANSACTION", ("offsets", "transactions"), transactions.hanging_transaction),
    Detector("OFFSETS_PENDING", ("pending",), transactions.offsets_pending),
    Detector("PHANTOM_LAG", ("offsets", "rates"), transactions.phantom_lag),
    Detector("RECORDS_ARCHIVED", ("deliveries",), topic_health.records_archived),
    Detector("LOCKS_EXHAUSTED", ("deliveries", "members"), topic_health.locks_exhausted),
    Detector("IDLE_MEMBERS", ("members",), stability.idle_members),
    Detector("MIXED_APPLICATIONS", ("members",), stability.mixed_applications),
    Detector("REBALANCE_STUCK", ("long_rates",), stability.rebalance_stuck),
    Detector("REBALANCE_STORM", ("history",), stability.rebalance_storm),
    Detector("COMMIT_BACKWARDS", ("history",), stability.commit_backwards),
    Detector("NEW_PARTITIONS_SKIPPED", ("offsets", "history"), positions.new_partitions_skipped),
    Detector("SLOW_REVOCATION", ("members", "long_rates"), conflicts.slow_revocation),
    Detector("INSTANCE_ID_CONFLICT", ("history",), conflicts.instance_id_conflict),
    Detector("ASSIGNOR_CONFLICT", ("history",), conflicts.assignor_conflict),
)
"""Every detector. Another one is a function in `detectors/` and a row here.

Of two with one code the first tells more of an object, and the last is the one that is missed.
"""

OF_SHARE_GROUPS: Final = frozenset(
    {
        "COORDINATOR_UNSTABLE",
        "GROUP_NEAR_LIMIT",
        "LOCKS_EXHAUSTED",
        "NO_CONSUMER",
        "PARTITIONS_UNAVAILABLE",
        "RECORDS_ARCHIVED",
        "TOPIC_MISSING",
    }
)
"""Those that hold for share groups, whose members read the same partitions and commit nothing."""


class Examined(NamedTuple):
    """A group with what was found.

    Args:
        not_examined: code to the part of the facts that is missing.
        unproved: code to why the advice of its finding was not tried.
    """

    facts: DoctorFacts
    findings: tuple[Finding, ...]
    not_examined: tuple[tuple[str, Part], ...]
    unproved: tuple[tuple[str, str], ...] = ()


def examine(facts: DoctorFacts, prover: Prover | None = None) -> Examined:
    """Findings of a group, worst first; of a name without a group nothing else is asked.

    Args:
        prover: tries the advice, for as long as there is time for all groups.
    """
    if facts.own_settings:
        return Examined(facts, tuple(cluster.orphan_config(facts)), ())
    findings: list[Finding] = []
    missing: dict[str, Part] = {}
    for detector in DETECTORS:
        if facts.group.type == "share" and detector.code not in OF_SHARE_GROUPS:
            continue
        lacks = next((part for part in detector.needs if not facts.has(part)), None)
        if lacks is not None:
            missing[detector.code] = lacks
            continue
        missing.pop(detector.code, None)
        told = {(each.code, frozenset(each.where.items())) for each in findings}
        findings += (
            finding
            for finding in detector.detect(facts)
            if (finding.code, frozenset(finding.where.items())) not in told
        )
    findings.sort(key=lambda finding: finding.rank)
    prover = prover or Prover()
    proved = [prover.prove(facts, finding) for finding in findings]
    unproved = {finding.code: reason for finding, reason in proved if reason is not None}
    return Examined(
        facts,
        tuple(finding for finding, _ in proved),
        tuple(missing.items()),
        tuple(unproved.items()),
    )
