"""The figures of a simulation as fields of the condition language: `unowned_seconds_p99 > 10s`.

A figure's name stands for the median of all runs, with `_p95` and `_p99` for what so many of 100
runs do not exceed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kgroups.core.conditions.fields import SECONDS, Field, Fields, Value
from kgroups.core.simulation.figures.confidence import median, percentile
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.figures.outcome_item import FIGURES, MEANINGS

SHARES: Final = {"_p95": 0.95, "_p99": 0.99}
_MS: Final = "_ms"

# Of all deploys of a run (`deploys_failed`, `deploy`, `deploy_rebalances`, `deploy_unowned`): how
# many failed, how long the longest took, what they cost together; and what autoscalers did.
CONTROLLERS: Final[Mapping[str, tuple[str, Callable[[GroupOutcome], int]]]] = {
    "deploys_failed": (
        "deploys that did not complete",
        lambda g: sum(not deploy.completed for deploy in g.deploys),
    ),
    "deploy_ms": (
        "longest time until a deploy was complete",
        lambda g: max((deploy.took_ms or 0 for deploy in g.deploys), default=0),
    ),
    "deploy_rebalances": (
        "rebalances that deploys caused",
        lambda g: sum(deploy.rebalances for deploy in g.deploys),
    ),
    "deploy_unowned_ms": (
        "time without an owner during deploys, added up over partitions",
        lambda g: sum(deploy.unowned_ms for deploy in g.deploys),
    ),
    "scalings": ("how often an autoscaler changed the number of pods", lambda g: len(g.scalings)),
    "most_pods": (
        "most pods that an autoscaler wanted",
        lambda g: max((scaling.after for scaling in g.scalings), default=0),
    ),
}
_READ: Final[Mapping[str, Callable[[GroupOutcome], int]]] = {
    **FIGURES,
    **{name: read for name, (_, read) in CONTROLLERS.items()},
}


def _field(name: str) -> str:
    """The name of a figure in conditions and documents."""
    return name.removesuffix(_MS) + "_seconds" if name.endswith(_MS) else name


def _unit(name: str) -> str | None:
    return SECONDS if name.endswith(_MS) else None


def _rows() -> list[Field]:
    rows = []
    more = {name: meaning for name, (meaning, _) in CONTROLLERS.items()}
    for name, meaning in (MEANINGS | more).items():
        short, whole = _field(name), "partitions" if name == "moved" else None
        rows.append(Field(short, "number", _unit(name), meaning, whole))
        for ending in SHARES:
            text = f"{meaning}, in {ending[2:]} of 100 runs at most"
            rows.append(Field(short + ending, "number", _unit(name), text, whole))
    rows.append(Field("partitions", "number", None, "partitions that the group reads"))
    rows.append(Field("member_count", "number", None, "members at the end"))
    rows.append(Field("unsettled", "number", None, "runs at whose end the group had not settled"))
    return rows


SIMULATION_FIELDS: Final = Fields("a simulation", _rows())


def values_of(runs: Sequence[GroupOutcome]) -> dict[str, Value]:
    """The values of the fields for one group in all its runs; durations in seconds."""
    values: dict[str, Value] = {}
    for name, read in _READ.items():
        figures = [read(run) for run in runs]
        short, in_ms = _field(name), name.endswith(_MS)
        shares = {"": median(figures)} | {s: percentile(figures, at) for s, at in SHARES.items()}
        for ending, value in shares.items():
            values[short + ending] = value / 1_000 if in_ms else value
    values["partitions"] = len(runs[0].partitions)
    values["member_count"] = median([sum(member.running for member in run.members) for run in runs])
    values["unsettled"] = sum(not run.settled for run in runs)
    return values
