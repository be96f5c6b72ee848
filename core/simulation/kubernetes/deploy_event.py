"""A new version of a deployment, as data: how it is rolled out, and what is new about it.

Names and rules are those of Kubernetes (apps/v1 Deployment and StatefulSet).
"""

from dataclasses import dataclass, fields
from math import ceil, floor
from typing import Any, Final, Literal

from kgroups.core.simulation.kubernetes.scaling_rules import GRACE_MS, STARTUP_MS
from kgroups.core.simulation.scenario.member_settings import SETTINGS, Library, Protocol
from kgroups.core.simulation.scenario.spread import Spread
from kgroups.core.simulation.scenario.units import value_text

Kind = Literal["Deployment", "StatefulSet"]
KINDS: Final[tuple[Kind, ...]] = ("Deployment", "StatefulSet")


@dataclass(frozen=True, slots=True)
class Amount:
    """So many pods, or so many of a hundred."""

    value: int
    percent: bool = False

    def __str__(self) -> str:
        return f"{self.value}%" if self.percent else str(self.value)


A_QUARTER: Final = Amount(25, percent=True)


def fenceposts(surge: Amount, unavailable: Amount, replicas: int) -> tuple[int, int]:
    """Pods that may be there beyond the replicas, and replicas that may be missing.

    Source: ResolveFenceposts of Kubernetes' deployment controller: a share of the surge is rounded
    up, one of the unavailable down; where both come to nothing, one may be missing.
    """
    more = ceil(surge.value * replicas / 100) if surge.percent else surge.value
    fewer = floor(unavailable.value * replicas / 100) if unavailable.percent else unavailable.value
    return (more, fewer) if more or fewer else (0, 1)


@dataclass(frozen=True, slots=True)
class Change:
    """The differences of the new version from the old one; None, or nothing: as before.

    Args:
        settings: field of `MemberSettings` -> value.
    """

    protocol: Protocol | None = None
    library: Library | None = None
    static: bool | None = None
    client_id: str | None = None
    rack: str | None = None
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    record: Spread | None = None
    poll: Spread | None = None
    settings: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        keys = {field.name: field.name for field in fields(self)[:-1]} | {"library": "client"}
        given = [(key, getattr(self, name)) for name, key in keys.items()]
        properties = {field: name for name, (field, _) in SETTINGS.items()}
        given += [(properties.get(name, name), value) for name, value in self.settings]
        changed = [(key, value) for key, value in given if value not in (None, ())]
        return ", ".join(f"{key}={value_text(value)}" for key, value in changed)


NO_CHANGE: Final = Change()


@dataclass(frozen=True, slots=True)
class Deploy:
    """The members of a group are replaced by those of a new version, as Kubernetes does it.

    Args:
        entry: the entry of the scenario whose members are a deployment; None: every entry is one.
        surge, unavailable: of a Deployment; a StatefulSet replaces one pod after the other.
        startup_ms: from the pod's creation until its consumer is made.
        readiness_ms: from then until the pod is ready.
        min_ready_ms: how long it has to be ready to be available.
        grace_ms: from SIGTERM until the pod is killed.
        graceful: whether the application closes its consumer on SIGTERM; else it just ends.
        deadline_ms: without progress for so long a deployment has failed.
    """

    group: str
    entry: str | None = None
    kind: Kind = "Deployment"
    surge: Amount = A_QUARTER
    unavailable: Amount = A_QUARTER
    startup_ms: int = STARTUP_MS
    readiness_ms: int = 5_000
    min_ready_ms: int = 0
    grace_ms: int = GRACE_MS
    deadline_ms: int = 600_000
    graceful: bool = True
    change: Change = NO_CHANGE
