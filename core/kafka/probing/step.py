"""One step of the test: what was tried, how it went, and what to do about it."""

from dataclasses import dataclass
from typing import Literal

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.failures import BrokerFailure

Status = Literal["ok", "warning", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Step:
    """Result of one step.

    Args:
        target: what was tried: a host, `host:port`, a topic.
        status: `warning`: something does not work, and the rest does without it.
        remedy: what to do about a warning or a failure; None where there is nothing to do.
        took_ms: how long it took; None where nothing was asked.
        code: Kafka's error name, or one of ours, of a warning or failure.
        days_left: until the broker's certificate expires.
        cluster_id: where it is told.
        clock_ahead_ms: of the cluster's clock before ours; negative where it is behind.
    """

    step: str
    target: str
    status: Status
    detail: str
    remedy: str | None = None
    took_ms: float | None = None
    code: str | None = None
    cluster_id: str | None = None
    days_left: int | None = None
    clock_ahead_ms: int | None = None


def failed(step: str, target: str, failure: BrokerFailure | KgroupsError) -> Step:
    """The step that this failure ended."""
    return Step(step, target, "failed", failure.message, failure.hint, code=failure.code)
