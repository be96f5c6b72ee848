"""Deploys and autoscalers as a file has them, with the keys of Kubernetes' and KEDA's manifests."""

import re
from collections.abc import Mapping
from typing import Any, Final

from kgroups.core.input_files.document import Cursor, Readers, choice_of, integer_of
from kgroups.core.simulation.kubernetes.deploy_event import Amount, Change
from kgroups.core.simulation.kubernetes.scaling_rules import Autoscaler
from kgroups.core.simulation.scenario.member_readers import (
    check_protocol,
    read_processing,
    read_topics,
)
from kgroups.core.simulation.scenario.member_settings import (
    LIBRARY_DEFAULTS,
    PROTOCOL_WORDS,
    SETTINGS,
    Protocol,
    read_values,
)
from kgroups.core.simulation.scenario.scenario_model import GroupPlan
from kgroups.core.simulation.scenario.units import read_ms, read_seconds

_DOTTED: Final = "change."
_PERCENT: Final = re.compile(r"(\d{1,9})%")
MAX_AMOUNT: Final = 20_000


def read_amount(cursor: Cursor) -> Amount:
    """`2`, or `25%`."""
    if isinstance(cursor.plain, str):
        match = _PERCENT.fullmatch(cursor.text().strip())
        if match is None or int(match[1]) > MAX_AMOUNT:
            cursor.fail(
                f"`{cursor.value}` is not an amount", hint="write a number, or a share: 2, 25%"
            )
        return Amount(int(match[1]), percent=True)
    return Amount(cursor.integer(0, MAX_AMOUNT))


def read_unavailable(cursor: Cursor) -> Amount:
    """The same, at most all."""
    amount = read_amount(cursor)
    if amount.percent and amount.value > 100:
        cursor.fail(f"expected at most 100%, found {amount}")
    return amount


def read_entry(cursor: Cursor, group: GroupPlan) -> str:
    """An entry of the group's members."""
    return cursor.text([plan.entry or plan.name for plan in group.templates or group.members])


def read_change(cursor: Cursor, group: GroupPlan) -> Change:
    """The changes."""

    def read_protocol(value: Cursor) -> Protocol:
        if group.protocol == "zookeeper":
            value.fail("a group of the ZooKeeper era cannot change its protocol member by member")
        words = [word for word in PROTOCOL_WORDS if word != "zookeeper"]
        return group.spoken(value.choice(words))

    readers: Readers = {
        "protocol": ("protocol", read_protocol),
        "client": ("library", choice_of(LIBRARY_DEFAULTS)),
        "static": ("static", Cursor.flag),
        "client_id": ("client_id", Cursor.text),
        "rack": ("rack", Cursor.text),
        "topics": ("topics", read_topics),
        "pattern": ("pattern", Cursor.text),
    }
    fields = cursor.fields((), (*readers, "processing", "settings"))
    given = fields.given(readers)

    def read_new(value: Cursor) -> tuple[tuple[str, Any], ...]:
        check_protocol(given.get("protocol", group.protocol), value)
        return tuple(read_values(value).items())

    record, poll = fields.optional("processing", read_processing) or (None, None)
    settings = fields.optional("settings", read_new) or ()
    return Change(record=record, poll=poll, settings=settings, **given)


def nest_change(given: Mapping[str, object]) -> dict[str, object]:
    """Keys of the command line as a file has them: `change.static`, `change.session.timeout.ms`."""
    entry: dict[str, object] = {}
    change: dict[str, object] = {}
    settings: dict[str, object] = {}
    for key, value in given.items():
        name = key.removeprefix(_DOTTED)
        if name == key:
            entry[key] = value
        elif name in SETTINGS:
            settings[name] = value
        elif name == "topics":
            change[name] = str(value).split("+")
        else:
            change[name] = value
    if settings:
        change["settings"] = settings
    return {**entry, "change": change} if change else entry


MAX_TARGET: Final = 10**15
MAX_PODS: Final = 20_000


_TARGET: Final = integer_of(1, MAX_TARGET)
_PODS: Final = integer_of(0, MAX_PODS)
_SOME_PODS: Final = integer_of(1, MAX_PODS)


def _window(cursor: Cursor) -> int:
    return read_seconds(
        cursor.fields(("stabilizationWindowSeconds",))["stabilizationWindowSeconds"]
    )


# Key -> (field, how it is read).
COMMON: Final[Readers] = {
    "entry": ("entry", Cursor.text),
    "startup": ("startup_ms", read_ms),
    "terminationGracePeriodSeconds": ("grace_ms", read_seconds),
    "scaleUp": ("up_ms", _window),
    "scaleDown": ("down_ms", _window),
}
KEDA: Final[Readers] = {
    "lagThreshold": ("threshold", _TARGET),
    "activationLagThreshold": ("activation", integer_of(0, MAX_TARGET)),
    "pollingInterval": ("polling_ms", read_seconds),
    "cooldownPeriod": ("cooldown_ms", read_seconds),
    "allowIdleConsumers": ("allow_idle", Cursor.flag),
    "limitToPartitionsWithLag": ("limit_to_lagging", Cursor.flag),
    "minReplicaCount": ("least", _PODS),
    "maxReplicaCount": ("most", _SOME_PODS),
    **COMMON,
}
HPA: Final[Readers] = {
    "metric": ("metric", choice_of(("lag", "cpu"))),
    "target": ("threshold", _TARGET),
    "minReplicas": ("least", _SOME_PODS),
    "maxReplicas": ("most", _SOME_PODS),
    **COMMON,
}


def read_autoscaler(cursor: Cursor) -> Autoscaler:
    """The autoscaler of a group."""
    kinds = cursor.fields((), ("keda", "hpa"))
    if len(kinds.values) != 1:
        cursor.fail(f"expected one of `keda` and `hpa`, found {len(kinds.values)}")
    keda = "keda" in kinds.values
    keys, here = (KEDA, kinds["keda"]) if keda else (HPA, kinds["hpa"])
    required = () if keda else ("target", "maxReplicas")
    fields = here.fields(required, tuple(key for key in keys if key not in required))
    given: dict[str, Any] = {"least": 0 if keda else 1}
    for key in fields.values:
        field, read = keys[key]
        given[field] = read(fields[key])
    plan = Autoscaler(keda=keda, **given)
    if plan.least > plan.most:
        here.fail(f"at least {plan.least} pods and at most {plan.most}")
    if plan.keda and plan.polling_ms == 0:
        fields["pollingInterval"].fail("expected more than 0")
    if plan.allow_idle and plan.limit_to_lagging:
        what = "`allowIdleConsumers` and `limitToPartitionsWithLag` exclude each other"
        fields["limitToPartitionsWithLag"].fail(what, hint="KEDA refuses such a trigger")
    return plan
