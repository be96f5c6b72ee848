"""Parts of a member as a file has them: durations that vary, processing time, topics, protocol."""

from kgroups.core.input_files.document import Cursor, Readers, choice_of
from kgroups.core.simulation.scenario.member_settings import INSTEAD, OTHER_PROTOCOLS
from kgroups.core.simulation.scenario.scenario_model import (
    MODES,
    NO_TIME,
    RECORD_TIME,
    UNITS,
    CommitPlan,
    ListenerPlan,
)
from kgroups.core.simulation.scenario.spread import DEFAULT_TAIL, SHAPES, Spread
from kgroups.core.simulation.scenario.units import read_duration, read_ms

_SHAPES = frozenset(SHAPES)


def read_spread(cursor: Cursor) -> Spread:
    """A duration that varies: `2ms`, {normal: 2ms, deviation: 1ms}, {exponential: 2ms}, ..."""
    if not isinstance(cursor.value, dict):
        return Spread(read_duration(cursor))
    fields = cursor.fields((), (*SHAPES, "deviation", "tail"))
    shapes = [shape for shape in SHAPES if shape in fields.values]
    if len(shapes) != 1:
        cursor.fail("expected one of `fixed`, `normal`, `exponential` and `heavy`")
    mean_ms = read_duration(fields[shapes[0]])
    if shapes[0] == "normal":
        return Spread(mean_ms, "normal", fields.optional("deviation", read_duration) or 0.0)
    if shapes[0] == "heavy":
        return Spread(mean_ms, "heavy", tail=fields.optional("tail", _tail) or DEFAULT_TAIL)
    return Spread(mean_ms, shapes[0])


def _tail(cursor: Cursor) -> float:
    number = cursor.number
    if number is None or number <= 1:
        cursor.fail(f"expected a number above 1, found `{cursor.plain}`")
    return float(number)


def read_processing(cursor: Cursor) -> tuple[Spread, Spread]:
    """Time a record, or a mapping with time a record and time a poll."""
    if isinstance(cursor.value, dict) and not {"record", "poll"}.isdisjoint(cursor.value):
        fields = cursor.fields((), ("record", "poll"))
        record = fields.optional("record", read_spread) or RECORD_TIME
        return record, fields.optional("poll", read_spread) or NO_TIME
    return read_spread(cursor), NO_TIME


def read_listener(cursor: Cursor) -> ListenerPlan:
    """A rebalance listener: how long each call takes, and more; or one time for both."""
    if not isinstance(cursor.value, dict) or _SHAPES & cursor.value.keys():
        spread = read_spread(cursor)
        return ListenerPlan(spread, spread)
    readers: Readers = {
        "assigned": ("on_assigned", read_spread),
        "revoked": ("on_revoked", read_spread),
        "lost": ("on_lost", read_spread),
        "commits": ("commits", Cursor.flag),
        "fails": ("fails", read_share),
        "restart_after": ("restart_after_ms", read_ms),
    }
    return ListenerPlan(**cursor.fields((), readers).given(readers))


def read_commit(cursor: Cursor) -> CommitPlan:
    """How an application commits: `sync`, or a mapping that has more."""
    if not isinstance(cursor.value, dict):
        return CommitPlan(cursor.choice(MODES))
    readers: Readers = {"per": ("per", choice_of(UNITS)), "every": ("every_ms", read_ms)}
    fields = cursor.fields(("mode",), readers)
    plan = CommitPlan(fields["mode"].choice(MODES), **fields.given(readers))
    if plan.mode == "none" and len(fields.values) > 1:
        cursor.fail("an application that commits nothing has no `per` and no `every`")
    if plan.per == "partition" and plan.every_ms:
        cursor.fail("`per: partition` commits whenever a partition is done, not `every` so often")
    return plan


def read_share(cursor: Cursor) -> float:
    """A number from 0 to less than 1."""
    number = cursor.number
    if number is None or not 0 <= number < 1:
        what = f"`{cursor.plain}` is not a share: expected a number from 0 to less than 1"
        cursor.fail(what)
    return float(number)


def check_protocol(protocol: str, settings: Cursor) -> None:
    """A client that is given a property of the other protocol does not start."""
    for name, cursor in settings.entries():
        if protocol in OTHER_PROTOCOLS.get(name, ()):
            what = f"`{name}` cannot be set with protocol {protocol}: a client refuses to start"
            cursor.fail(what, hint=INSTEAD.get(name), key=True)


def read_assign(cursor: Cursor) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Partitions chosen by hand: topic -> their numbers, or `all`."""
    topics: list[tuple[str, tuple[int, ...]]] = []
    for topic, value in cursor.entries():
        if isinstance(value.value, list):
            numbers = tuple(item.integer(0) for item in value.items())
            if not numbers:
                value.fail("expected at least one partition")
            if len(set(numbers)) < len(numbers):
                value.fail("a partition is named twice")
            topics.append((topic, numbers))
        else:
            value.text(("all",))
            topics.append((topic, ()))
    if not topics:
        cursor.fail("expected at least one topic")
    return tuple(topics)


def read_topics(cursor: Cursor) -> tuple[str, ...]:
    """Topics that members name."""
    topics = tuple(item.text() for item in cursor.items())
    if not topics:
        cursor.fail("expected at least one topic")
    return topics
