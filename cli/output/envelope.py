"""The envelope that every JSON document has around its items, and the report it is made from."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from kgroups.cli.exits import TOLD, Note, failure_item, note_items, now_ms
from kgroups.cli.output.table import Item, View
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.times import timestamp


@dataclass(frozen=True, slots=True)
class Report:
    """Result of a command, before it is given a form.

    Args:
        schema: name and version, `kgroups.list/1`.
        items: the things asked for; may be lazy and is gone through once.
        views: how a table shows them, in order; CSV takes exactly one.
        cluster: `id` and `bootstrap`; None where no cluster was asked.
        generated_at_ms: epoch milliseconds of the facts.
        errors: what failed while others went on.
        summary: counts over the items; asked for after the last item.
        extra: further fields of the envelope, after `items`.
        plain: the report in the layout of Kafka's tool, piece by piece; None where it has none.
        forms: the report as text in forms that only its command has, by their names.
        document_of: makes an item what it is in JSON, where tables take it in another form.
        notes: what to know of it, besides what was said before; told on stderr after it.
        tells_notes: whether they are: else only documents have them.
        ended: why the command did less than it was asked to: the last entry of `errors`, which is
            told on stderr in other words.
        is_live: the items come over hours: each is written at once, in a table too, and failures
            have been told when they happened.
    """

    schema: str
    items: Iterable[Any]
    views: Sequence[View]
    cluster: Mapping[str, str | None] | None = None
    generated_at_ms: int = field(default_factory=now_ms)
    errors: Sequence[ItemError] = ()
    summary: Callable[[], Mapping[str, Any]] = dict
    extra: Mapping[str, Any] = field(default_factory=dict)
    plain: Callable[[], Iterable[str]] | None = None
    document_of: Callable[[Any], Item] = lambda item: item
    forms: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    notes: Sequence[Note] = ()
    tells_notes: bool = True
    ended: KgroupsError | None = None
    is_live: bool = False

    @classmethod
    def of(
        cls,
        snapshot: ClusterSnapshot,
        schema: str,
        items: Iterable[Any],
        views: Sequence[View],
        **more: Any,
    ) -> "Report":
        """Report on a snapshot: its cluster, time and errors, unless `more` has others."""
        cluster = {"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap}
        own = cls(schema, items, views, cluster, snapshot.captured_at_ms, snapshot.errors)
        return replace(own, **more)

    @property
    def documents(self) -> Iterator[Item]:
        """The items as they are in JSON; gone through once."""
        return map(self.document_of, self.items)


def error_items(errors: Iterable[ItemError]) -> Iterator[dict[str, str | None]]:
    """Failures as entries of the envelope."""
    for error in errors:
        yield {
            "target": error.target,
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
        }


def envelope_head(report: Report) -> dict[str, Any]:
    """Fields before `items`."""
    return {
        "schema": report.schema,
        "cluster": None if report.cluster is None else dict(report.cluster),
        "generated_at": timestamp(report.generated_at_ms),
    }


def envelope_tail(report: Report, failure: BaseException | None = None) -> dict[str, Any]:
    """Fields after `items`.

    Args:
        failure: what came between the items, so that a summary of them may be impossible.
    """
    ends = [failure_item(end) for end in (report.ended, failure) if end is not None]
    summary: Mapping[str, Any] = {}
    with suppress(*(() if failure is None else (Exception,))):
        summary = report.summary()
    return {
        **report.extra,
        "errors": [*error_items(report.errors), *ends],
        "notes": note_items((*TOLD.notes, *report.notes)),
        "summary": dict(summary),
    }
