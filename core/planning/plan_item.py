"""The JSON form of a plan: one item of the `plan` document."""

import dataclasses
from typing import Any

from kgroups.core.group_item import assignment_item
from kgroups.core.planning.explanation.explain import Explanation
from kgroups.core.planning.metrics import Metrics
from kgroups.core.planning.moves import Assigned, Move, RoundStep
from kgroups.core.planning.outcomes.outcome import Failure, Outcome
from kgroups.core.planning.plan import Plan, PlannedMember, Stage

Item = dict[str, Any]


def plan_item(plan: Plan) -> Item:
    """A plan as one item of a document; what is not known is None."""
    outcomes = plan.outcomes.each
    ranks = plan.outcomes.ranks()
    return {
        "group": plan.group,
        "rebalance_protocol": plan.rebalance_protocol,
        "assignor": plan.assignor,
        "leader_member_id": None if plan.roster is None else plan.roster.group.leader,
        "leader_client": plan.leader_client,
        "leader_clients": list(plan.leader_clients),
        "confidence": plan.confidence,
        "confidence_reason": plan.confidence_reason,
        "depends_on_member_ids": plan.depends_on_member_ids,
        "members": [_member_item(member) for member in plan.members],
        "leavers": list(plan.leavers),
        "moves": [move_item(move) for move in plan.moves],
        "rounds": [_step_item(step) for step in plan.steps],
        "metrics": dataclasses.asdict(plan.metrics),
        "outcomes": [
            _outcome_item(outcome, rank, figures)
            for outcome, rank, figures in zip(outcomes, ranks, plan.outcome_metrics, strict=False)
        ],
        "stages": [_stage_item(stage) for stage in plan.stages],
        "blockers": [dataclasses.asdict(blocker) for blocker in plan.blockers],
        "failures": [
            _failure_item(failure, rank)
            for failure, rank in zip(plan.outcomes.failures, ranks[len(outcomes) :], strict=True)
        ],
        "outcomes_count": len(outcomes),
        "outcomes_complete": plan.outcomes.complete and bool(outcomes or plan.outcomes.failures),
        "faults": [dataclasses.asdict(fault) for fault in plan.faults],
        "notes": [*plan.notes, *plan.outcome_notes],
    }


def _member_item(member: PlannedMember) -> Item:
    return {
        "member_id": member.member_id,
        "client_id": member.client_id,
        "instance_id": member.instance_id,
        "host": member.host or None,
        "joins": member.joins,
        "assignment": assignment_item(member.assignment),
        "partitions": member.partitions,
        "partitions_before": member.partitions_before,
        "lag": member.lag,
        "lag_before": member.lag_before,
    }


def move_item(move: Move) -> Item:
    """One partition with its owners before and after."""
    return {
        "topic": move.topic,
        "partition": move.partition,
        "from": move.source,
        "to": move.target,
        "kind": move.kind,
    }


def _step_item(step: RoundStep) -> Item:
    return {
        "revoked": [_share(*share) for share in step.revoked],
        "assigned": [_share(*share) for share in step.assigned],
    }


def _share(topic: str, partition: int, member_id: str) -> Item:
    return {"topic": topic, "partition": partition, "member_id": member_id}


def _outcome_item(outcome: Outcome, rank: int, figures: Metrics) -> Item:
    return {
        "rank": rank,
        "leader_clients": list(outcome.leaders),
        "moved": figures.moved,
        "members": _share_items(outcome.settled.shares),
    }


def _share_items(shares: Assigned) -> list[Item]:
    return [
        {"member_id": member, "assignment": assignment_item(held)}
        for member, held in shares.items()
    ]


def _stage_item(stage: Stage) -> Item:
    changed = ("moved", "revoked_first")
    return {
        "event": stage.event,
        "rebalances": stage.rebalances,
        "leader_client": stage.leader_client,
        "confidence": stage.confidence,
        "confidence_reason": stage.confidence_reason,
        "moved": sum(move.kind in changed for move in stage.moves),
        "moves": [move_item(move) for move in stage.moves],
        "members": _share_items(stage.assignment),
    }


def _failure_item(failure: Failure, rank: int) -> Item:
    return {
        "rank": rank,
        "leader_clients": list(failure.leaders),
        "code": failure.error.code,
        "message": failure.message,
    }


def explanation_item(explanation: Explanation) -> Item:
    """Why a partition goes where it goes."""
    return {
        "topic": explanation.topic,
        "partition": explanation.partition,
        "from": explanation.before,
        "to": explanation.after,
        "reasons": list(explanation.reasons),
    }
