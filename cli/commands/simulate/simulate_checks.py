"""Failures of simulations: groups that did not settle, deploys, conditions that hold."""

from collections.abc import Iterator, Sequence

from kgroups.cli.commands.simulate.simulate_report import variation_text
from kgroups.core.conditions.condition import Condition
from kgroups.core.errors import CheckFailed, ItemError, UsageError
from kgroups.core.simulation.figures.figure_fields import values_of
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.spark.settings import parse_settings


def run_failures(outcome: Outcome, variation: str | None = None) -> list[ItemError]:
    """Deploys that were given up and groups that did not come to rest, as errors."""
    return [*_failed_deploys(outcome, variation), *_unsettled(outcome, variation)]


def _failed_deploys(outcome: Outcome, variation: str | None) -> Iterator[ItemError]:
    for group in outcome.groups:
        for deploy in group.deploys:
            if deploy.failed:
                yield ItemError(
                    target=_target(group.group, variation),
                    code="DEPLOY_FAILED",
                    message=f"the deploy at {deploy.at_ms / 1e3:.0f} s failed: {deploy.failure}",
                    hint="`--deploys` shows its figures, `--timeline` what happened",
                    exit_code=CheckFailed.exit_code,
                )


def _target(group: str, variation: str | None) -> str:
    return " ".join(text for text in (group, variation) if text)


def _unsettled(outcome: Outcome, variation: str | None) -> list[ItemError]:
    """Groups that did not come to rest, as errors: their figures are of something unfinished."""
    if outcome.settled:
        return []
    groups = [group.group for group in outcome.groups if not group.settled]
    what = "had not settled" if groups else "events were pending"
    failed = {
        group.group: f"; a member failed: {member.failures[-1]}"
        for group in outcome.groups
        for member in group.members
        if member.failures
    }
    return [
        ItemError(
            target=_target(name, variation),
            code="NOT_SETTLED",
            message=f"{what} at the end, after {outcome.end_ms / 1e3:.0f} s{failed.get(name, '')}",
            hint="`--members` shows who failed"
            if name in failed
            else "increase `--until`; `--timeline` shows what happened",
            exit_code=CheckFailed.exit_code,
        )
        for name in groups or [outcome.scenario or outcome.groups[0].group]
    ]


def failed_checks(
    runs: Sequence[Sequence[Outcome]],
    variations: Sequence[dict[str, str]],
    conditions: Sequence[Condition],
) -> list[ItemError]:
    """One error for each group of a variation and condition that holds."""
    if not conditions:
        return []
    errors: list[ItemError] = []
    for variation, outcomes in zip(variations, runs, strict=True):
        for place, group in enumerate(outcomes[0].groups):
            values = values_of([outcome.groups[place] for outcome in outcomes])
            target = _target(group.group, variation_text(variation))
            for condition in conditions:
                if condition.holds(values):
                    shown = ", ".join(condition.told(values))
                    message = f"`{condition.text}` holds: {shown}"
                    code = CheckFailed.exit_code
                    errors.append(ItemError(target, "CHECK_FAILED", message, None, code))
    return errors


def spark_settings(master: str | None, conf: Sequence[str]) -> dict[str, str]:
    """Settings of Spark, which only a run on a cluster has.

    Raises:
        UsageError: there is none, or a setting cannot be read.
    """
    if master is None:
        if conf:
            raise UsageError("`--conf` requires `--master`")
        return {}
    return parse_settings(conf)
