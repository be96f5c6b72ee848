"""The columns of the pipeline's tables, for Arrow and, through that, for Spark.

Three tables of facts: rows (one partition of a group), members and topics; and what a dry run of
them takes and gives. `captured_at_ms` and `cluster` are in each table of facts, so that tables of
many captures can be put together. A column added later is nullable and goes at the end: readers
fill it with null in older files.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION: Final = 1

STRING, INT, LONG, FLAG = "string", "int", "long", "flag"
STRINGS, NUMBERS = "strings", "numbers"
OWNED, RACKS = "owned", "racks"
"""Kinds of columns: a list of topics with partitions each; a list of racks for each partition."""


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: str
    nullable: bool = False


Columns = tuple[Column, ...]

CAPTURE: Final[Columns] = (Column("captured_at_ms", LONG), Column("cluster", STRING))

# One partition of a topic that a group reads or has committed, at one time;
# `next_record_at_ms` is when its oldest unread record was written, where that was asked; `lag_told`
# what the coordinator of a share group says that is left, as much of it is done with out of order.
ROWS: Final[Columns] = (
    *CAPTURE,
    Column("group", STRING),
    Column("group_type", STRING),
    Column("group_state", STRING, True),
    Column("topic", STRING),
    Column("partition", INT),
    Column("commits_known", FLAG),
    Column("committed_offset", LONG, True),
    Column("committed_at_ms", LONG, True),
    Column("leader_epoch", INT, True),
    Column("log_start_offset", LONG, True),
    Column("log_end_offset", LONG, True),
    Column("last_stable_offset", LONG, True),
    Column("member_id", STRING, True),
    Column("client_id", STRING, True),
    Column("host", STRING, True),
    Column("error", STRING, True),
    Column("assignor", STRING, True),
    Column("next_record_at_ms", LONG, True),
    Column("lag_told", LONG, True),
)

# One member as a dry run needs it; `ordinal` keeps the order of the broker's answer, which decides
# ties. `owned` is what the next rebalance starts from: the assignment, in a KIP-848 group the
# target assignment.
PLANNED: Final[Columns] = (
    *CAPTURE,
    Column("group", STRING),
    Column("group_type", STRING),
    Column("ordinal", INT),
    Column("member_id", STRING),
    Column("client_id", STRING),
    Column("host", STRING),
    Column("instance_id", STRING, True),
    Column("rack", STRING, True),
    Column("subscription", STRINGS),
    Column("owned", OWNED),
    Column("assignor", STRING, True),
)

# One member. Of its group: state, and how far it is: in a classic group the generation, and whether
# this member leads, where the log of the group tells; in a KIP-848 group the epochs. Of the member:
# `joined_with`, the generation that it had when it joined last, and `assigned` where that is not
# `owned`.
MEMBERS: Final[Columns] = (
    *PLANNED,
    Column("group_state", STRING, True),
    Column("generation", INT, True),
    Column("leads", FLAG, True),
    Column("group_epoch", INT, True),
    Column("target_epoch", INT, True),
    Column("member_epoch", INT, True),
    Column("joined_with", INT, True),
    Column("assigned", OWNED, True),
)

# One member as it is planned: `assumed_id` is drawn for a member that joins, whose `member_id` is
# only a name; `leader` is the client library whose rules the plan follows.
PLAN_MEMBERS: Final[Columns] = (
    *PLANNED,
    Column("assumed_id", STRING, True),
    Column("leader", STRING),
)

# One topic that exists; `racks` has a list of replica racks a partition, empty if not learned.
TOPICS: Final[Columns] = (
    *CAPTURE,
    Column("topic", STRING),
    Column("topic_id", STRING, True),
    Column("partitions", INT),
    Column("racks", RACKS),
)

# A topic's partitions that a member has in a planned assignment. A group that was not planned is
# one row with `error`; `applies` is false where the assignor is not for groups of its type.
PLANS: Final[Columns] = (
    Column("cluster", STRING),
    Column("group", STRING),
    Column("assignor", STRING),
    Column("member_id", STRING, True),
    Column("client_id", STRING, True),
    Column("host", STRING, True),
    Column("topic", STRING, True),
    Column("applies", FLAG),
    Column("error", STRING, True),
    Column("partitions", NUMBERS),
)

TABLE_COLUMNS: Final[Mapping[str, Columns]] = MappingProxyType(
    {
        "rows": ROWS,
        "members": MEMBERS,
        "plan_members": PLAN_MEMBERS,
        "topics": TOPICS,
        "plans": PLANS,
    }
)


@cache
def arrow_schema(table: str) -> "pa.Schema":
    """The columns of a table of `TABLE_COLUMNS`."""
    import pyarrow as pa

    kinds = _arrow_types()
    return pa.schema([pa.field(c.name, kinds[c.kind], c.nullable) for c in TABLE_COLUMNS[table]])


@cache
def _arrow_types() -> dict[str, Any]:
    import pyarrow as pa

    def list_of(kind: Any, nullable: bool = False) -> Any:
        return pa.list_(pa.field("element", kind, nullable))  # named as Spark does

    string, numbers = pa.string(), list_of(pa.int32())
    owned = pa.struct([pa.field("topic", string, False), pa.field("partitions", numbers, False)])
    return {
        STRING: string,
        INT: pa.int32(),
        LONG: pa.int64(),
        FLAG: pa.bool_(),
        STRINGS: list_of(string),
        NUMBERS: numbers,
        OWNED: list_of(owned),
        RACKS: list_of(list_of(string, nullable=True)),
    }


def table_of(rows: Sequence[tuple[Any, ...]], schema: "pa.Schema") -> "pa.Table":
    """Tuples as a table; column by column, because Arrow reads a list much faster than rows."""
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
