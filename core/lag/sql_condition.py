"""SQL conditions on rows of reports, read without Spark: where they are wrong is told at once."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kgroups.core.errors import UsageError, shorten

if TYPE_CHECKING:
    from sqlglot.errors import ParseError, TokenError
    from sqlglot.expressions import Condition

EXAMPLE: Final = "expected a SQL condition such as `lag > 1000 and topic like 'audit%'`"


def check_sql(text: str, option: str) -> Iterator[str]:
    """The columns that a condition in Spark's SQL names.

    Types and names of functions are left to Spark.

    Args:
        option: that it was given with, for messages.
    Raises:
        UsageError: it is no condition; says at which character.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import ParseError, TokenError

    try:
        root = sqlglot.parse_one(
            text, into=exp.Condition, dialect="spark", error_message_context=len(text)
        )
    except TokenError as exc:
        raise _wrong(text, option, "a quote or comment is not closed" + _opened_at(exc)) from exc
    except ParseError as exc:
        raise _wrong(text, option, _what_and_where(exc)) from exc
    except RecursionError:
        raise _wrong(text, option, "it is nested too deeply") from None
    why = _refused(root)
    if why is not None:
        raise _wrong(text, option, why)
    for column in root.find_all(exp.Column):
        yield ".".join(part.name for part in column.parts)


def _refused(root: "Condition") -> str | None:
    """Expressions that Spark refuses in a filter, or that mean nothing on rows of one report."""
    from sqlglot import exp

    if root.find(exp.Query):
        return "it holds a subquery"
    if root.find(exp.Window):
        return "it holds a window function"
    if root.find(exp.AggFunc):
        return "it holds an aggregate function"
    if root.find(exp.Placeholder, exp.Parameter):
        return "it holds a parameter"
    values = (exp.Column, exp.Literal, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg)
    if isinstance(root.unnest(), values):
        return "it is a value, neither true nor false"
    return None


def _wrong(text: str, option: str, why: str) -> UsageError:
    return UsageError(f"`{option} {shorten(text)}` is not valid: {why}", hint=EXAMPLE)


def _opened_at(exc: "TokenError") -> str:
    """Where what is not closed begins, if that is told."""
    match = re.search(r"from \d+:(\d+)$", str(exc.__cause__))
    return f", opened at character {int(match[1]) + 1}" if match else ""


def _what_and_where(exc: "ParseError") -> str:
    """The token that is missing or too much, and at which character."""
    if not exc.errors:
        return "it is empty"
    error = exc.errors[0]
    token, said = error["highlight"] or "", str(error["description"])
    place = f"at character {len(error['start_context'] or '') + 1}"
    if said.startswith("Expecting "):
        return f"expected `{said.removeprefix('Expecting ')}` after `{token}` {place}"
    if said.startswith("Required "):
        return f"incomplete after `{token}` {place}"
    return f"unexpected `{token}` {place}"
