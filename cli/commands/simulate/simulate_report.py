"""Simulations as reports: the tables of `kgroups simulate`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from kgroups.cli.output.table import Column, Item, View, plain_view
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
LISTED: Mapping[str, tuple[Column, ...]] = {
    "rebalances": REBALANCE_COLUMNS,
    "deploys": DEPLOY_COLUMNS,
    "scalings": SCALING_COLUMNS,
    "members": MEMBER_COLUMNS,
    "partitions": PARTITION_COLUMNS,
}


def variation_text(variation: Mapping[str, str] | None) -> str | None:
    """`protocol=eager static=true`."""
    return " ".join(f"{name}={value}" for name, value in (variation or {}).items()) or None


class Simulated:
    """The views of a simulation's items.

    Args:
        plain: durations as numbers of seconds: for CSV.
    """

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain
        views = [
            self._view("groups", GROUP_COLUMNS, self._groups),
            *(self._view(key, columns, partial(_listed, key)) for key, columns in LISTED.items()),
            self._view("requests", REQUEST_COLUMNS, _requests),
            self._view("spread", SPREAD_COLUMNS, self._spread),
        ]
        self.views: Mapping[str, View] = {view.name: view for view in views}

    def chosen(self, names: Sequence[str]) -> list[View]:
        """The views of these names, in their own order."""
        return [view for name, view in self.views.items() if name in names]

    def _view(
        self, name: str, columns: tuple[Column, ...], rows: Callable[[Item], Iterable[Item]]
    ) -> View:
        """A view of rows by name, whose values are shown as their names say."""

        def shown(item: Item) -> Iterator[Item]:
            head = {**item, "variation": variation_text(item["variation"])}
            for row in rows(item):
                whole = {**head, **row}
                yield {c.field: self._shown(c.field, whole.get(c.field)) for c in columns}

        return plain_view(name, columns, shown)

    def _shown(self, name: str, value: Any) -> Any:
        if name.endswith("_seconds") and isinstance(value, int | float) and not self._plain:
            return show_ms(1_000 * value) if value else 0
        return "; ".join(value) or None if isinstance(value, list) else value

    def _groups(self, item: Item) -> Iterator[Item]:
        row = item["figures"] | (item["herd"] or {})
        for name, difference in ({} if self._plain else item["compared"] or {}).items():
            if difference["real"] and row[name] is not None:
                row[name] = f"{self._shown(name, row[name])}*"
        yield {**row, "settled": "yes" if item["runs_settled"] == item["runs"] else "no"}

    def _spread(self, item: Item) -> Iterator[Item]:
        """A row for each figure; without several runs only what it was."""
        for name, value in item["figures"].items():
            low, high = (item["interval"] or {}).get(name) or (None, None)
            difference = (item["compared"] or {}).get(name)
            p95 = (item["p95"] or {}).get(name)
            numbers = {"median": value, "p95": p95, "low": low, "high": high}
            yield {
                "figure": name,
                **{key: self._shown(name, number) for key, number in numbers.items()},
                "differs": None if difference is None else "yes" if difference["real"] else "no",
                "more_runs": None if difference is None else difference["more_runs"],
            }


def _listed(key: str, item: Item) -> Iterator[Item]:
    for part in item[key]:
        until = part.get("until_seconds")
        took = {} if until is None else {"took_seconds": until - part["at_seconds"]}
        yield part | took


def _requests(item: Item) -> Iterator[Item]:
    for kind in ("request", "error", "count"):
        for name, count in item[f"{kind}s"].items():
            yield {"kind": kind, "name": name, "count": count}


def line_text(item: Item) -> str:
    """A timeline's line for people; columns are as wide as usual names, longer ones push on."""
    head = f"{item['at_seconds']:10.3f}  {item['group']:<10} {item['who']:<12} {item['what']:<20}"
    text: Any = item["text"]
    return f"{head} {text}".rstrip() + "\n"
