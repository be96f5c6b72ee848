"""Moves to KIP-848 on brokers of 3.x, which name things otherwise and may have it switched off."""

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.planning.migration.broker_rules import POLICY, PROTOCOLS, rules_from
from tests.core.planning.migration.test_move import TWO, moved


def test_assignors_of_brokers() -> None:
    """Brokers before 4.0 name Kafka's own by their classes; one that is not ours is named."""
    classes = "org.apache.kafka.coordinator.group.assignor."
    old = {POLICY: "upgrade", "group.consumer.assignors": f"{classes}RangeAssignor"}
    rules = rules_from(old, None)
    assert rules.config.consumer_assignors == ("range",)
    assert moved(TWO, rules=rules).stages
    other = {POLICY: "upgrade", "group.consumer.assignors": "com.acme.Own,uniform"}
    rules = rules_from(other, None)
    with pytest.raises(UsageError) as refused:
        moved(TWO, rules=rules)
    assert (
        refused.value.message == "the brokers assign by `com.acme.Own`, which kgroups does not have"
    )
    assert refused.value.hint == "choose another one with `--assignor`: uniform, range"
    assert moved(TWO, assignor="uniform", rules=rules).stages


def test_brokers_that_are_told_not_to_serve_kip848() -> None:
    """As those of Kafka 3.9 are by default: they have the request, and refuse it."""
    off = {POLICY: "upgrade", PROTOCOLS: "classic"}
    blockers = moved(TWO, rules=rules_from(off, None)).blockers
    assert [each.message for each in blockers] == [
        f"the brokers do not serve KIP-848: `{PROTOCOLS}` is classic"
    ]
    on = {POLICY: "upgrade", PROTOCOLS: "Classic, Consumer"}
    assert not moved(TWO, rules=rules_from(on, None)).blockers


def test_brokers_whose_group_version_is_not_finalized() -> None:
    """As after an upgrade from 3.9 to 4.0: by their settings they would serve it."""
    on = {POLICY: "bidirectional", PROTOCOLS: "classic,consumer"}
    (blocker,) = moved(TWO, rules=rules_from(on, None, kip848="refused")).blockers
    assert blocker.code == "UNSUPPORTED_VERSION"
    assert blocker.message.endswith("the feature `group.version` is not finalized")
    assert "group.version=1" in (blocker.hint or "")
    untold = rules_from({}, "CLUSTER_AUTHORIZATION_FAILED", kip848="refused")
    (blocker,) = moved(TWO, rules=untold).blockers
    assert blocker.message.endswith(f"is not finalized, or `{PROTOCOLS}` lacks `consumer`")
    off = {**on, PROTOCOLS: "classic"}  # which alone explains it
    (blocker,) = moved(TWO, rules=rules_from(off, None, kip848="refused")).blockers
    assert blocker.message.endswith(f"`{PROTOCOLS}` is classic")
