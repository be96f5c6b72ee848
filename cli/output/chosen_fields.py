"""`--fields`: the columns of a table or of CSV that are shown, and their order."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Annotated, Final, NamedTuple

from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Row, View, heading
from kgroups.cli.params import GlobalOptions, split_names
from kgroups.cli.usage import Texts, option
from kgroups.core.errors import UsageError, guess

FORMS: Final = frozenset({"table", "csv"})

FieldNames = Annotated[Texts, option("--fields NAMES", "Show only these columns: group,lag.")]


class ChosenFields(NamedTuple):
    """The columns that are asked for.

    Args:
        names: in the order in which they are shown, as in CSV and JSON; empty: as ever.
    """

    names: tuple[str, ...] = ()

    def of(self, report: Report) -> Report:
        """The report with these columns only, in this order.

        Raises:
            UsageError: the view does not have one of them.
        """
        return report if not self.names else replace(report, views=[*map(self._view, report.views)])

    def _view(self, view: View) -> View:
        places = {column.field: at for at, column in enumerate(view.columns)}
        _check(self.names, tuple(places))
        chosen = [places[name] for name in self.names]
        return replace(
            view, columns=tuple(_shown(view.columns[at]) for at in chosen), pick=_picker(chosen)
        )


def chosen_fields(
    texts: list[str] | None, options: GlobalOptions, columns: Iterable[str], views: int = 1
) -> ChosenFields:
    """The columns that the option names, before a cluster is asked.

    Args:
        columns: those that there are.
        views: how many kinds of rows are asked for.
    Raises:
        UsageError: one of them is not there, names the nearest; the output has no columns, or those
            of several kinds of rows.
    """
    names = tuple(dict.fromkeys(name.replace("-", "_").lower() for name in split_names(texts)))
    if texts is None:
        return ChosenFields()
    if not names:
        raise UsageError("--fields names no column")
    if options.output not in FORMS:
        raise UsageError(
            f"--fields requires a table or CSV, and the output is `{options.output}`",
            hint="use --output table or csv; --query chooses from JSON",
        )
    if views != 1:
        raise UsageError("--fields requires one view", hint="choose one of the views")
    _check(names, tuple(columns))
    return ChosenFields(names)


def _check(names: Iterable[str], columns: Sequence[str]) -> None:
    for name in names:
        if name not in columns:
            raise UsageError(
                f"--fields: there is no column `{name}` here{guess(name, columns, most=3)}",
                hint="columns: " + ", ".join(columns),
            )


def _shown(column: Column) -> Column:
    """A column that was asked for: shown whatever it holds, beside the others."""
    header = column.header or heading(column.field)
    return column._replace(header=header, quiet=(), verbose=False, shared=False, chosen=True)


def _picker(places: Sequence[int]) -> Callable[[Row], Row]:
    if len(places) > 1:
        return itemgetter(*places)
    (place,) = places
    return lambda row: (row[place],)
