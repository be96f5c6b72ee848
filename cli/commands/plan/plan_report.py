"""Plans as reports: the tables of `kgroups plan`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kgroups.cli.exits import MANY, NAMED, Note
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, Row, View, assignment_text
from kgroups.core.errors import ItemError
from kgroups.core.snapshot import ClusterSnapshot

# Of every view: which plan a row is of, and how sure that is.
PLAN_COLUMNS = (
    Column("group", "GROUP", shared=True),
    Column("assignor", "ASSIGNOR", shared=True),
    Column("confidence", "CONFIDENCE", shared=True),
    Column("confidence_reason"),
)
METRIC_COLUMNS = (
    *PLAN_COLUMNS[:2],
    Column("rebalance_protocol", "PROTOCOL", shared=True),
    Column("leader_client", "LEADER", shared=True),
    *PLAN_COLUMNS[2:],
    Column("kept", "KEPT", right=True),
    Column("moved", "MOVED", right=True),
    Column("newly_assigned", "NEW", right=True, quiet=(0,)),
    Column("newly_unassigned", "FREED", right=True, quiet=(0,)),
    Column("unassigned", "UNASSIGNED", right=True, quiet=(0,)),
    Column("partitions_min", "MIN", right=True),
    Column("partitions_max", "MAX", right=True),
    Column("stddev", "STDDEV", right=True),
    Column("idle_members", "IDLE", right=True),
    Column("member_lag_max", "LAG-MAX", right=True),
    Column("member_lag_stddev", "LAG-STDDEV", right=True),
)
MEMBER_COLUMNS = (
    *PLAN_COLUMNS,
    Column("member_id", "MEMBER-ID", is_member=True),
    Column("client_id", "CLIENT-ID"),
    Column("joins", "JOINS", quiet=(False,)),
    Column("partitions_before", "BEFORE", right=True),
    Column("partitions", "AFTER", right=True),
    Column("lag_before", "LAG-BEFORE", right=True),
    Column("lag", "LAG-AFTER", right=True),
    Column("assignment", "ASSIGNMENT"),
)
MOVE_COLUMNS = (
    *PLAN_COLUMNS,
    Column("topic", "TOPIC"),
    Column("partition", "PARTITION", right=True),
    Column("from", "FROM", is_member=True),
    Column("to", "TO", is_member=True),
    Column("kind", "KIND"),
)
ROUND_COLUMNS = (
    *PLAN_COLUMNS,
    Column("round", "ROUND", right=True, shared=True),
    Column("step", "STEP", shared=True),
    Column("topic", "TOPIC"),
    Column("partition", "PARTITION", right=True),
    Column("member_id", "MEMBER-ID", is_member=True),
)
OUTCOME_COLUMNS = (
    *PLAN_COLUMNS,
    Column("outcome", "OUTCOME", right=True, shared=True),
    Column("rank", "RANK", right=True, shared=True),
    Column("leader_clients", "LEADER", shared=True, quiet=("",)),
    Column("moved", "MOVED", right=True, shared=True),
    Column("failure", "FAILS", quiet=(None,)),
    Column("member_id", "MEMBER-ID", is_member=True),
    Column("assignment", "ASSIGNMENT"),
)
STAGE_COLUMNS = (
    *PLAN_COLUMNS[:2],
    Column("step", "STEP", right=True),
    Column("event", "EVENT"),
    Column("rebalances", "REBALANCES", quiet=(True,)),
    Column("leader_client", "LEADER", shared=True, quiet=(None,)),
    Column("confidence", "CONFIDENCE", shared=True),
    Column("confidence_reason"),
    Column("moved", "MOVED", right=True),
    *MOVE_COLUMNS[len(PLAN_COLUMNS) :],
)
BLOCKER_COLUMNS = (
    Column("group", "GROUP", shared=True),
    Column("member_id", "MEMBER-ID", is_member=True),
    Column("code", "BLOCKER"),
    Column("refused_by", "REFUSED-BY"),
    Column("message", "WHAT"),
    Column("hint"),
    Column("confidence"),
    Column("confidence_reason"),
)
EXPLAIN_COLUMNS = (
    *PLAN_COLUMNS,
    Column("topic", "TOPIC", shared=True),
    Column("partition", "PARTITION", right=True, shared=True),
    Column("from", "FROM", shared=True, is_member=True),
    Column("to", "TO", shared=True, is_member=True),
    Column("reason", "WHY"),
)
OWN = len(PLAN_COLUMNS)
FIGURES = OWN + 2
MOVED = len(MOVE_COLUMNS) - OWN
_METRICS = [column.field for column in METRIC_COLUMNS[FIGURES:]]


def plan_report(
    schema: str,
    snapshot: ClusterSnapshot,
    items: Sequence[Item],
    errors: Sequence[ItemError],
    views: Sequence[str],
) -> Report:
    """The plans as a report with these views."""
    summary = {
        "groups": len({item["group"] for item in items}),
        "plans": len(items),
        "moved": sum(item["metrics"]["moved"] for item in items),
        "kept": sum(item["metrics"]["kept"] for item in items),
    }
    return Report(
        schema=schema,
        cluster={"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap},
        generated_at_ms=snapshot.captured_at_ms,
        items=items,
        views=[VIEWS[view] for view in views],
        errors=errors,
        summary=lambda: summary,
    )


def shared_notes(told: Sequence[tuple[str, str]]) -> Iterator[Note]:
    """Notes with the groups that they are about; what is said of many groups is said once.

    Args:
        told: group and note, in order.
    """
    groups: dict[str, dict[str, None]] = {}
    for group, note in told:
        groups.setdefault(note, {})[group] = None
    shared = {note: list(about) for note, about in groups.items() if len(about) > MANY}
    for group, note in told:
        if note not in groups:
            continue  # said
        if note not in shared:
            yield Note("OF_A_PLAN", f"`{group}`: {note}", group)
            continue
        del groups[note]
        names = ", ".join(f"`{name}`" for name in shared[note][:NAMED])
        yield Note("OF_A_PLAN", f"{names} and {len(shared[note]) - NAMED:,} more: {note}")


def fault_notes(item: Item) -> Iterator[str]:
    """What a Java leader would do wrong, a sentence each."""
    for fault in item["faults"]:
        yield f"{fault['message']} ({fault['code']})"


def blocker_notes(item: Item, *, asked: bool) -> Iterator[str]:
    """What can be done about each blocker, a sentence each.

    Args:
        asked: say so where there are none.
    """
    if asked and item["stages"] and not item["blockers"]:
        yield "no blockers"
    yield from dict.fromkeys(blocker["hint"] for blocker in item["blockers"])


def confidence_notes(item: Item) -> Iterator[str]:
    """How sure the plan is, and why; nothing for a plan that predicts nothing."""
    if item["confidence"] is not None:
        yield f"{item['confidence']}: {item['confidence_reason']}"


def _plan_values(item: Item) -> Row:
    return tuple(item[column.field] for column in PLAN_COLUMNS)


def _metric_rows(item: Item) -> Iterator[Row]:
    figures = item["metrics"]
    named = (item[column.field] for column in METRIC_COLUMNS[:FIGURES])
    yield (*named, *(_rounded(figures[name]) for name in _METRICS))


def _rounded(value: Any) -> Any:
    return round(value, 2) if isinstance(value, float) else value


def _member_rows(item: Item) -> Iterator[Row]:
    for member in item["members"]:
        values = (member[column.field] for column in MEMBER_COLUMNS[OWN:-1])
        yield (*_plan_values(item), *values, assignment_text(member["assignment"]))


def _move_rows(item: Item) -> Iterator[Row]:
    for move in changes_in(item["moves"]):
        yield (*_plan_values(item), *move)


def changes_in(moves: Iterable[Item]) -> Iterator[Row]:
    """Topic, partition, old and new owner and kind of each partition that changes its owner."""
    for move in moves:
        if move["kind"] != "kept":
            yield tuple(move[column.field] for column in MOVE_COLUMNS[OWN:])


def _round_rows(item: Item) -> Iterator[Row]:
    for number, step in enumerate(item["rounds"], 1):
        for kind in ("revoked", "assigned"):
            for each in step[kind]:
                what = (each["topic"], each["partition"], each["member_id"])
                yield (*_plan_values(item), number, kind, *what)


def _outcome_rows(item: Item) -> Iterator[Row]:
    for number, outcome in enumerate(item["outcomes"], 1):
        which = (number, outcome["rank"], ",".join(outcome["leader_clients"]))
        for member in outcome["members"]:
            held = assignment_text(member["assignment"])
            what = (outcome["moved"], None, member["member_id"], held)
            yield (*_plan_values(item), *which, *what)
    for number, failure in enumerate(item["failures"], len(item["outcomes"]) + 1):
        which = (number, failure["rank"], ",".join(failure["leader_clients"]))
        yield (*_plan_values(item), *which, None, failure["message"], None, None)


def _stage_rows(item: Item) -> Iterator[Row]:
    """What changes in each step, a row each; a step in which nothing moves has one, too."""
    for number, stage in enumerate(item["stages"], 1):
        told = [stage[column.field] for column in STAGE_COLUMNS[3:-MOVED]]
        for move in list(changes_in(stage["moves"])) or [(None,) * MOVED]:
            yield (item["group"], item["assignor"], number, *told, *move)


def _blocker_rows(item: Item) -> Iterator[Row]:
    for each in item["blockers"]:
        told = (each[column.field] for column in BLOCKER_COLUMNS[1:-2])
        yield (item["group"], *told, item["confidence"], item["confidence_reason"])


def _explain_rows(item: Item) -> Iterator[Row]:
    for each in item.get("explanations", ()):
        where = (each["topic"], each["partition"], each["from"], each["to"])
        for reason in each["reasons"]:
            yield (*_plan_values(item), *where, reason)


VIEWS: Mapping[str, View] = {
    "metrics": View("plan", METRIC_COLUMNS, _metric_rows),
    "members": View("member", MEMBER_COLUMNS, _member_rows),
    "moves": View("move", MOVE_COLUMNS, _move_rows),
    "rounds": View("round", ROUND_COLUMNS, _round_rows),
    "outcomes": View("outcome", OUTCOME_COLUMNS, _outcome_rows),
    "stages": View("step", STAGE_COLUMNS, _stage_rows),
    "blockers": View("blocker", BLOCKER_COLUMNS, _blocker_rows),
    "explain": View("explanation", EXPLAIN_COLUMNS, _explain_rows),
}
