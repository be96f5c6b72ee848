"""JSON text as plain values, and the lines of places in it."""

import json
import math
import re
from typing import Final, NoReturn

from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.files import MIB

Step = str | int


MAX_JSON_COST: Final = 256 * MIB
_COSTS: Final = ((b"{", 208), (b"[", 80), (b",", 40))
"""Bytes of memory behind a sign, at most: an object with one key, an empty list, a number."""

_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_MANY_DIGITS: Final = re.compile(r"\d{4000}")


class _TwiceError(Exception):
    """A key that stands twice in one JSON object."""


def json_cost(data: bytes) -> int:
    """Bytes of memory that the values of a JSON text take at most."""
    return sum(data.count(sign) * cost for sign, cost in _COSTS)


def check_json_cost(data: bytes, name: str) -> None:
    """Refuse a JSON text that would fill the memory, however short it is.

    Raises:
        UsageError: it holds more than any honest document.
    """
    if json_cost(data) > MAX_JSON_COST:
        raise UsageError(f"`{name}` has more values than kgroups reads")


def parse_json(text: str, name: str, *, twice: bool = False) -> object:
    """The value of a JSON text.

    Args:
        name: stands for the file in messages.
        twice: a key may stand twice in one mapping; its last value counts.
    Raises:
        UsageError: not well formed, nested too deeply, or a value that JSON does not have.
    """

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    raise _TwiceError(key)
                seen.add(key)
        return mapping

    def no_constant(constant: str) -> NoReturn:
        line = text.count("\n", 0, max(0, text.find(constant))) + 1
        raise UsageError(f"`{name}`, line {line}: `{constant}` is not a JSON value")

    def finite(digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            no_constant(digits)
        return number

    try:
        value: object = json.loads(
            text,
            object_pairs_hook=dict if twice else once,
            parse_constant=no_constant,
            parse_float=finite,
        )
    except json.JSONDecodeError as error:
        raise UsageError(
            f"`{name}`, line {error.lineno}: not JSON: {error.msg} at column {error.colno}",
            hint="a YAML file must be called `.yaml` or `.yml`",
        ) from error
    except _TwiceError as error:
        line = _second_key_line(text, str(error))
        raise UsageError(
            f"`{name}`{line}: the key `{shorten(str(error))}` appears twice in one mapping"
        ) from error
    except RecursionError as error:
        raise UsageError(f"`{name}`: nested too deeply") from error
    except ValueError as error:  # more digits than Python turns into a number
        match = _MANY_DIGITS.search(text)
        number = text.count("\n", 0, match.start() if match else 0) + 1
        raise UsageError(f"`{name}`, line {number}: a number has too many digits") from error
    if _HALF.search(text):
        _check_characters(value, text, name)
    return value


def _check_characters(value: object, text: str, name: str) -> None:
    """Refuse half a surrogate pair: it is no character, and nothing could be written with it."""
    left: list[tuple[object, tuple[Step, ...]]] = [(value, ())]
    while left:
        here, path = left.pop()
        if isinstance(here, dict):
            for key, part in here.items():
                left += ((key, path), (part, (*path, key)))
        elif isinstance(here, list):
            left += [(part, (*path, place)) for place, part in enumerate(here)]
        elif isinstance(here, str) and not _is_unicode(here):
            line = json_line(text, path, key=False)
            raise UsageError(
                f"`{name}`, line {line}: a string contains a lone surrogate (`\\uD800`)"
            )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _second_key_line(text: str, key: str) -> str:
    """`, line N` of the key if it stands exactly twice in the text, else nothing."""
    quoted = json.dumps(key)
    first = text.find(quoted)
    second = text.find(quoted, first + 1)
    if second < 0 or text.find(quoted, second + 1) >= 0:
        return ""
    return f", line {text.count(chr(10), 0, second) + 1}"


_DECODER = json.JSONDecoder()
_BLANK = " \t\n\r"


def json_line(text: str, path: tuple[Step, ...], key: bool) -> int | None:
    """Line of a path in a JSON text that is known to be well formed."""
    position = key_position = _skip(text, 0)
    for step in path:
        step_at = _json_step(text, position, step)
        if step_at is None:
            break
        key_position, position = step_at
    return text.count("\n", 0, key_position if key else position) + 1


def _json_step(text: str, position: int, step: Step) -> tuple[int, int] | None:
    """Positions of the key and of the value one step down, or None if it is not there."""
    opening = text[position]
    if opening not in "{[":
        return None
    position = _skip(text, position + 1)
    index = 0
    while text[position] not in "}]":
        key_position = position
        here: Step = index
        if opening == "{":
            here, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        if here == step:
            return key_position, position
        _, position = _DECODER.raw_decode(text, position)
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
        index += 1
    return None


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position
