"""Plans as reports: the tables of `kgroups plan`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kgroups.cli.exits import MANY, NAMED, Note
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, View, assignment_text, each_of, plain_view
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
    return Report.of(
        snapshot,
        schema,
        items,
        [VIEWS[view] for view in views],
        errors=errors,
        summary=lambda: summary,
    )


def shared_notes(said: Sequence[tuple[str, str]]) -> Iterator[Note]:
    """Notes with the groups that they are about; what is said of many groups is said once.

    Args:
        said: group and note, in order.
    """
    groups: dict[str, dict[str, None]] = {}
    for group, note in said:
        groups.setdefault(note, {})[group] = None
    shared = {note: list(about) for note, about in groups.items() if len(about) > MANY}
    for group, note in said:
        if note not in groups:
            continue  # said
        if note not in shared:
            yield Note("OF_A_PLAN", f"`{group}`: {note}", group)
            continue
        del groups[note]
        names = ", ".join(f"`{name}`" for name in shared[note][:NAMED])
        yield Note("OF_A_PLAN", f"{names} and {len(shared[note]) - NAMED:,} more: {note}")


def fault_notes(item: Item) -> Iterator[str]:
    """Faults of a Java leader, a sentence each."""
    for fault in item["faults"]:
        yield f"{fault['message']} ({fault['code']})"


def blocker_notes(item: Item, *, asked: bool) -> Iterator[str]:
    """Advice on each blocker, a sentence each.

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


def _metrics(item: Item) -> Iterator[Item]:
    figures = item["metrics"].items()
    yield {**item, **{n: round(v, 2) if isinstance(v, float) else v for n, v in figures}}


def _members(item: Item) -> Iterator[Item]:
    for member in item["members"]:
        yield {**item, **member, "assignment": assignment_text(member["assignment"])}


def _moves(item: Item) -> Iterator[Item]:
    for move in changes_in(item["moves"]):
        yield {**item, **move}


def changes_in(moves: Iterable[Item]) -> Iterator[Item]:
    """The partitions that change their owner."""
    return (move for move in moves if move["kind"] != "kept")


def _rounds(item: Item) -> Iterator[Item]:
    for number, step in enumerate(item["rounds"], 1):
        for kind in ("revoked", "assigned"):
            for move in step[kind]:
                yield {**item, "round": number, "step": kind, **move}


def _outcomes(item: Item) -> Iterator[Item]:
    for number, outcome in enumerate((*item["outcomes"], *item["failures"]), 1):
        leaders = ",".join(outcome["leader_clients"])
        own = {"outcome": number, "rank": outcome["rank"], "leader_clients": leaders}
        if "code" in outcome:
            yield {**item, **own, "failure": outcome["message"]}
            continue
        for member in outcome["members"]:
            held = assignment_text(member["assignment"])
            figures = {"moved": outcome["moved"], "member_id": member["member_id"]}
            yield {**item, **own, **figures, "assignment": held}


def _stages(item: Item) -> Iterator[Item]:
    """Moves of each step, a row each; a step in which nothing moves has one, too."""
    for number, stage in enumerate(item["stages"], 1):
        for move in list(changes_in(stage["moves"])) or [{}]:
            yield {**item, **stage, "step": number, **move}


def _explanations(item: Item) -> Iterator[Item]:
    for explanation in item.get("explanations", ()):
        for reason in explanation["reasons"]:
            yield {**item, **explanation, "reason": reason}


VIEWS: Mapping[str, View] = {
    "metrics": plain_view("plan", METRIC_COLUMNS, _metrics),
    "members": plain_view("member", MEMBER_COLUMNS, _members),
    "moves": plain_view("move", MOVE_COLUMNS, _moves),
    "rounds": plain_view("round", ROUND_COLUMNS, _rounds),
    "outcomes": plain_view("outcome", OUTCOME_COLUMNS, _outcomes),
    "stages": plain_view("step", STAGE_COLUMNS, _stages),
    "blockers": plain_view("blocker", BLOCKER_COLUMNS, each_of("blockers")),
    "explain": plain_view("explanation", EXPLAIN_COLUMNS, _explanations),
}
