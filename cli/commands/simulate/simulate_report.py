"""Simulations as reports: the tables of `kgroups simulate`."""

from collections.abc import Mapping, Sequence
from typing import Any

from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.core.times import show_ms

# Of every view but that of the groups: whose figures a row has.
WHERE = (
    Column("group", "GROUP"),
    Column("variation", "VARIATION", quiet=(None,)),
)
GROUP_COLUMNS = (
    Column("group", "GROUP"),
    Column("protocol", "PROTOCOL"),
    Column("variation", "VARIATION", quiet=(None,)),
    Column("runs", "RUNS", right=True, quiet=(1,)),
    Column("settled", "SETTLED", quiet=("yes",)),
    Column("rebalances", "REBALANCES", right=True),
    Column("epoch", "EPOCH", right=True),
    Column("unowned_seconds", "UNOWNED", right=True),
    Column("longest_unowned_seconds", "LONGEST", right=True),
    Column("doubled_seconds", "DOUBLED", right=True, quiet=(0,)),
    Column("stopped_seconds", "STOPPED", right=True),
    Column("moved", "MOVED", right=True),
    Column("read_again", "READ-AGAIN", right=True),
    Column("lost", "LOST", right=True, quiet=(0,)),
    Column("out_of_order", "OUT-OF-ORDER", right=True, quiet=(0,)),
    Column("skipped", "SKIPPED", right=True, quiet=(0,)),
    Column("peak_unread", "PEAK-UNREAD", right=True),
    Column("catch_up_seconds", "CATCH-UP", right=True),
    Column("requests", "REQUESTS", right=True),
    Column("split_brain_seconds", "SPLIT-BRAIN", right=True, quiet=(None, 0)),
    Column("failed_rebalances", "FAILED", right=True, quiet=(None, 0)),
    Column("notifications", "NOTIFIED", right=True, quiet=(None,)),
    Column("reads", "READS", right=True, quiet=(None,)),
)
REBALANCE_COLUMNS = (
    *WHERE,
    Column("at_seconds", "AT", right=True),
    Column("took_seconds", "TOOK", right=True),
    Column("epoch", "EPOCH", right=True),
    Column("cause", "CAUSE"),
)
DEPLOY_COLUMNS = (
    *WHERE,
    Column("entry", "ENTRY"),
    Column("kind", "KIND"),
    Column("at_seconds", "AT", right=True),
    Column("replicas", "REPLICAS", right=True),
    Column("took_seconds", "TOOK", right=True),
    Column("settled_seconds", "SETTLED", right=True),
    Column("rebalances", "REBALANCES", right=True),
    Column("unowned_seconds", "UNOWNED", right=True),
    Column("doubled_seconds", "DOUBLED", right=True, quiet=(0,)),
    Column("moved", "MOVED", right=True),
    Column("read_again", "READ-AGAIN", right=True),
    Column("failure", "FAILURE", quiet=(None,)),
)
SCALING_COLUMNS = (
    *WHERE,
    Column("at_seconds", "AT", right=True),
    Column("before", "PODS", right=True),
    Column("after", "WANTED", right=True),
    Column("lag", "LAG", right=True),
)
MEMBER_COLUMNS = (
    *WHERE,
    Column("name", "MEMBER"),
    Column("lives", "LIVES", right=True),
    Column("partitions", "PARTITIONS", right=True),
    Column("stopped_seconds", "STOPPED", right=True),
    Column("longest_stop_seconds", "LONGEST", right=True),
    Column("starting_seconds", "STARTING", right=True),
    Column("failures", "FAILURES", quiet=(None,)),
)
PARTITION_COLUMNS = (
    *WHERE,
    Column("topic", "TOPIC"),
    Column("partition", "PARTITION", right=True),
    Column("owner", "OWNER"),
    Column("unowned_seconds", "UNOWNED", right=True),
    Column("longest_unowned_seconds", "LONGEST", right=True),
    Column("doubled_seconds", "DOUBLED", right=True, quiet=(0,)),
)
REQUEST_COLUMNS = (
    *WHERE,
    Column("kind", "KIND"),
    Column("name", "NAME"),
    Column("count", "COUNT", right=True),
)
SPREAD_COLUMNS = (
    *WHERE,
    Column("figure", "FIGURE"),
    Column("median", "MEDIAN", right=True),
    Column("p95", "P95", right=True),
    Column("low", "FROM", right=True),
    Column("high", "TO", right=True),
    Column("differs", "DIFFERS", quiet=(None,)),
    Column("more_runs", "MORE-RUNS", right=True, quiet=(None,)),
)
LINE_COLUMNS = (
    Column("at_seconds", "AT", right=True),
    Column("group", "GROUP"),
    Column("who", "WHO"),
    Column("what", "WHAT"),
    Column("text", "TEXT"),
)
DURATIONS = frozenset(
    {
        *(
            "unowned_seconds",
            "longest_unowned_seconds",
            "doubled_seconds",
            "stopped_seconds",
            "catch_up_seconds",
        ),
        "split_brain_seconds",
    }
)


def variation_text(variation: Mapping[str, str] | None) -> str | None:
    """`protocol=eager static=true`."""
    return " ".join(f"{name}={value}" for name, value in (variation or {}).items()) or None


def _where(item: Item) -> tuple[Any, ...]:
    return item["group"], variation_text(item["variation"])


def _duration(seconds: float | None, plain: bool) -> float | str | None:
    if plain or seconds is None:
        return seconds
    return show_ms(1_000 * seconds) if seconds else 0


class Simulated:
    """The views of a simulation's items.

    Args:
        plain: durations as numbers of seconds: for CSV.
    """

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain
        self.views: Mapping[str, View] = {
            "groups": View("groups", GROUP_COLUMNS, self._groups),
            "rebalances": self._listed("rebalances", REBALANCE_COLUMNS),
            "deploys": self._listed("deploys", DEPLOY_COLUMNS),
            "scalings": self._listed("scalings", SCALING_COLUMNS),
            "members": self._listed("members", MEMBER_COLUMNS),
            "partitions": self._listed("partitions", PARTITION_COLUMNS),
            "requests": View("requests", REQUEST_COLUMNS, self._requests),
            "spread": View("spread", SPREAD_COLUMNS, self._spread),
        }

    def chosen(self, names: Sequence[str]) -> list[View]:
        """The views of these names, in their own order."""
        return [view for name, view in self.views.items() if name in names]

    def _groups(self, item: Item) -> list[Row]:
        figures = item["figures"] | (item["herd"] or {})
        shown = {
            name: _duration(value, self._plain) if name in DURATIONS else value
            for name, value in figures.items()
        }
        compared = {} if self._plain else item["compared"] or {}
        for name, found in compared.items():
            if found["real"] and shown[name] is not None:
                shown[name] = f"{shown[name]}*"
        head = {
            "group": item["group"],
            "protocol": item["protocol"],
            "variation": variation_text(item["variation"]),
            "runs": item["runs"],
            "settled": "yes" if item["runs_settled"] == item["runs"] else "no",
        }
        row = {**head, **shown}
        return [tuple(row.get(column.field) for column in GROUP_COLUMNS)]

    def _spread(self, item: Item) -> list[Row]:
        """A row for each figure; without several runs only what it was."""
        where = _where(item)
        rows: list[Row] = []
        for name, value in item["figures"].items():
            low, high = (item["interval"] or {}).get(name) or (None, None)
            found = (item["compared"] or {}).get(name)
            numbers: tuple[Any, ...] = (value, (item["p95"] or {}).get(name), low, high)
            if name.endswith("_seconds") and not self._plain:
                numbers = tuple(_duration(one, plain=False) for one in numbers)
            differs = None if found is None else "yes" if found["real"] else "no"
            more = None if found is None else found["more_runs"]
            rows.append((*where, name, *numbers, differs, more))
        return rows

    def _listed(self, key: str, columns: tuple[Column, ...]) -> View:
        """The view of what an item lists under a key: a row for each."""
        names = [column.field for column in columns[len(WHERE) :]]
        return View(
            key,
            columns,
            lambda item: [
                (*_where(item), *(self._shown(name, one) for name in names)) for one in item[key]
            ],
        )

    def _shown(self, name: str, one: Item) -> Any:
        if name == "took_seconds" and "until_seconds" in one:
            until = one["until_seconds"]
            return _duration(None if until is None else until - one["at_seconds"], self._plain)
        value = one[name]
        if name.endswith("_seconds"):
            return _duration(value, self._plain)
        return "; ".join(value) or None if isinstance(value, list) else value

    def _requests(self, item: Item) -> list[Row]:
        where = _where(item)
        kinds = (("request", "requests"), ("error", "errors"), ("count", "counts"))
        return [
            (*where, kind, name, count)
            for kind, field in kinds
            for name, count in item[field].items()
        ]


def line_text(item: Item) -> str:
    """A timeline's line for people; columns are as wide as usual names, longer ones push on."""
    head = f"{item['at_seconds']:10.3f}  {item['group']:<10} {item['who']:<12} {item['what']:<20}"
    text: Any = item["text"]
    return f"{head} {text}".rstrip() + "\n"
