"""`--query`: a JMESPath expression over a JSON document, as the AWS and Azure tools have it."""

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import jmespath
from jmespath.exceptions import (
    EmptyExpressionError,
    IncompleteExpressionError,
    JMESPathError,
    JMESPathTypeError,
    LexerError,
    ParseError,
)
from jmespath.functions import Functions

from kgroups.core.errors import UnprintedError, UsageError, guess, shorten

HINT: Final = "JMESPath: `items[].group`, `items[?lag > `10`].group`"


@dataclass(frozen=True, slots=True)
class Query:
    """An expression that can be asked of documents."""

    text: str
    expression: Any

    def answer(self, document: str) -> Any:
        """Value of the expression for a document; None where it finds nothing.

        Args:
            document: as JSON, so that the expression sees what a reader of it would.
        Raises:
            UnprintedError: a function cannot take what it is given. This may follow a write, so it
                is no `UsageError`.
        """
        value = json.loads(document)
        try:
            return self.expression.search(value)
        except JMESPathTypeError as error:
            kinds = {"null": "null", "array": "a list", "object": "an object"}
            kind = kinds.get(error.actual_type, f"a {error.actual_type}")
            why = f"`{error.function_name}` cannot take {kind}"
            place = _place_of(self.text, error.function_name)
        except (JMESPathError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
            why, place = str(error).partition("\n")[0].rstrip(".:"), None
        raise UnprintedError(_message(self.text, why, place), hint=HINT)


def parse_query(text: str) -> Query:
    """The query that a text spells.

    Raises:
        UsageError: it is not JMESPath, or calls a function that is not there; names the position.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # of literals without quotation marks
            parsed = jmespath.compile(text)
    except EmptyExpressionError:
        _refuse(text, "the expression is empty", None)
    except LexerError as error:
        why = error.message[:1].lower() + error.message[1:].rstrip(".")
        _refuse(text, why, error.lex_position)
    except IncompleteExpressionError:
        _refuse(text, "the expression ends too early", len(text))
    except ParseError as error:
        ends = error.token_type == "EOF"
        why = "the expression ends too early" if ends else f"unexpected `{error.token_value}`"
        _refuse(text, why, error.lex_position)
    except RecursionError:
        _refuse(text, "the expression is nested too deeply", None)
    except (JMESPathError, ValueError) as error:
        _refuse(text, str(error).partition("\n")[0].rstrip(".:"), None)
    _check_calls(text, parsed.parsed)
    return Query(text, parsed)


def _refuse(text: str, why: str, place: int | None) -> NoReturn:
    raise UsageError(_message(text, why, place), hint=HINT) from None


def _message(text: str, why: str, place: int | None) -> str:
    """Error text, with the character, counted from 1."""
    at = "" if place is None else f" (at character {place + 1})"
    return f"`--query {shorten(text)}`: {why}{at}"


def _check_calls(text: str, root: Mapping[str, Any]) -> None:
    """See that the functions exist and are given as many values as they take.

    The library finds out when it calls one, which it may never do for this document.
    """
    table = Functions.FUNCTION_TABLE
    for node in _nodes(root):
        if node["type"] != "function_expression":
            continue
        name, given = str(node["value"]), len(node["children"])
        place = _place_of(text, name)
        if name not in table:
            _refuse(text, f"unknown function `{name}`{guess(name, table, most=3)}", place)
        taken = table[name]["signature"]
        is_variadic = bool(taken) and taken[-1].get("variadic", False)
        if given < len(taken) or (given > len(taken) and not is_variadic):
            least = "at least " if is_variadic else ""
            many = f"{least}{len(taken)} argument{'' if len(taken) == 1 else 's'}"
            _refuse(text, f"`{name}` takes {many}, not {given}", place)


def _nodes(root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    left: list[Any] = [root]
    while left:
        node = left.pop()
        if isinstance(node, Mapping) and "type" in node:
            yield node
            left += node.get("children", ())


def _place_of(text: str, function: str) -> int | None:
    """Where a function is called first."""
    match = re.search(rf"(?<![\w-]){re.escape(function)}\s*\(", text)
    return match.start() if match else None
