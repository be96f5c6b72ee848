"""An autoscaler as a file has it: `keda` or `hpa`, with the keys of their manifests."""

from collections.abc import Mapping
from typing import Any, Final, cast

from kgroups.core.input_files.document import Cursor
from kgroups.core.simulation.kubernetes.scaling_rules import Autoscaler, Metric
from kgroups.core.simulation.scenario.units import read_ms, read_seconds

MAX_TARGET: Final = 10**15
MAX_PODS: Final = 20_000


def _target(cursor: Cursor) -> int:
    return cursor.integer(1, MAX_TARGET)


def _pods(cursor: Cursor) -> int:
    return cursor.integer(0, MAX_PODS)


def _some_pods(cursor: Cursor) -> int:
    return cursor.integer(1, MAX_PODS)


def _metric(cursor: Cursor) -> Metric:
    return cast(Metric, cursor.text(("lag", "cpu")))


def _window(cursor: Cursor) -> int:
    return read_seconds(
        cursor.fields(("stabilizationWindowSeconds",))["stabilizationWindowSeconds"]
    )


# Key -> (field, how it is read).
COMMON: Final[Mapping[str, tuple[str, Any]]] = {
    "entry": ("entry", Cursor.text),
    "startup": ("startup_ms", read_ms),
    "terminationGracePeriodSeconds": ("grace_ms", read_seconds),
    "scaleUp": ("up_ms", _window),
    "scaleDown": ("down_ms", _window),
}
KEDA: Final[Mapping[str, tuple[str, Any]]] = {
    "lagThreshold": ("threshold", _target),
    "activationLagThreshold": ("activation", lambda cursor: cursor.integer(0, MAX_TARGET)),
    "pollingInterval": ("polling_ms", read_seconds),
    "cooldownPeriod": ("cooldown_ms", read_seconds),
    "allowIdleConsumers": ("allow_idle", Cursor.flag),
    "limitToPartitionsWithLag": ("limit_to_lagging", Cursor.flag),
    "minReplicaCount": ("least", _pods),
    "maxReplicaCount": ("most", _some_pods),
    **COMMON,
}
HPA: Final[Mapping[str, tuple[str, Any]]] = {
    "metric": ("metric", _metric),
    "target": ("threshold", _target),
    "minReplicas": ("least", _some_pods),
    "maxReplicas": ("most", _some_pods),
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
