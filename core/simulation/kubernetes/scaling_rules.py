"""How many pods an autoscaler wants: the formulas of KEDA's Kafka scaler and of the HPA, pure.

Sources: KEDA's documentation of the Apache Kafka scaler and of scaled objects; "Algorithm details"
of the HorizontalPodAutoscaler in Kubernetes' documentation, and its default behaviour.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal, NamedTuple

Metric = Literal["lag", "cpu"]
# Within this share of the target nothing is done.
TOLERANCE: Final = 0.1
# How often the HPA looks; its default policies count over as long.
SYNC_MS: Final = 15_000
# In each period so many more pods may be made, or as many as there are: whichever is more.
MOST_NEW: Final = 4
# Of a pod that says nothing else: until its consumer is made, and from SIGTERM until it is killed.
STARTUP_MS: Final = 5_000
GRACE_MS: Final = 30_000


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """The autoscaler of the members of a group.

    Args:
        keda: whether KEDA is in front of the HPA: it scales to zero, and caps the lag.
        metric: what the HPA goes by; lag always, with KEDA.
        threshold: unread records a pod, or busy time a pod in percent.
        least, most: pods; the least may be 0 with KEDA only.
        activation: with so much lag at most nobody is needed.
        polling_ms: how often KEDA looks whether anybody is needed.
        cooldown_ms: how long nobody must have been needed before the last pods end.
        allow_idle: whether there may be more pods than partitions.
        limit_to_lagging: whether there may only be as many pods as partitions with lag.
        up_ms, down_ms: stabilisation windows: the least, and the most, of what was wanted in it.
        entry: of the scenario's members; None for the first.
        startup_ms: from the pod's creation until its consumer is made.
        grace_ms: from SIGTERM until the pod is killed.
    """

    keda: bool = False
    metric: Metric = "lag"
    threshold: int = 10
    least: int = 1
    most: int = 100
    activation: int = 0
    polling_ms: int = 30_000
    cooldown_ms: int = 300_000
    allow_idle: bool = False
    limit_to_lagging: bool = False
    up_ms: int = 0
    down_ms: int = 300_000
    entry: str | None = None
    startup_ms: int = STARTUP_MS
    grace_ms: int = GRACE_MS


def capped_lag(plan: Autoscaler, lags: Sequence[int]) -> int:
    """The lag that KEDA tells the HPA: no more than its partitions are worth."""
    total = sum(lags)
    if not plan.keda or (plan.allow_idle and not plan.limit_to_lagging):
        return total
    bound = sum(lag > 0 for lag in lags) if plan.limit_to_lagging else len(lags)
    return min(total, bound * plan.threshold) if total // plan.threshold > bound else total


def is_near(ratio: float) -> bool:
    """Whether a share of the target is within the tolerance, both ends included."""
    return 1 - TOLERANCE <= ratio <= 1 + TOLERANCE


def wanted_for_lag(current: int, lag: int, target: int) -> int:
    """Pods for an external metric with a target a pod; `current` within the tolerance."""
    ratio = lag / (target * current)
    return current if is_near(ratio) else ceil(lag / target)


def wanted_for_cpu(current: int, percent: float, target: int) -> int:
    """Pods for a mean utilisation in percent; `current` within the tolerance."""
    ratio = percent / target
    return current if is_near(ratio) else ceil(round(current * ratio, 9))


def most_after(current: int) -> int:
    """How many pods there may be a period later."""
    return max(2 * current, current + MOST_NEW)


def stabilised(
    plan: Autoscaler, current: int, wanted: Iterable[tuple[int, int]], now_ms: int
) -> int:
    """The replicas after the windows and the policies.

    Args:
        wanted: (time, pods) of every wish so far, the present one included.
    """
    wishes = list(wanted)
    floor = min(n for at, n in wishes if at > now_ms - plan.up_ms or at == now_ms)
    ceiling = max(n for at, n in wishes if at > now_ms - plan.down_ms or at == now_ms)
    count = current
    if count < floor:
        count = floor
    if count > ceiling:
        count = ceiling
    return max(max(1, plan.least), min(count, plan.most, most_after(current)))


class Scaling(NamedTuple):
    """It changed the number of pods.

    Args:
        at_ms: from the start of the run.
        lag: records after the last commits then.
    """

    at_ms: int
    before: int
    after: int
    lag: int
