"""Bytes of records as people and programs read them: text, JSON, hex, or by a user's decoder.

A decoder is a function `decode(value: bytes, topic: str)` whose answer JSON can hold, registered
as an entry point in the group `kgroups.decoders`, or named `package.module:function`.
"""

import codecs
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, NamedTuple

import msgspec

from kgroups.core.errors import ItemError, UsageError

ENTRY_POINTS: Final = "kgroups.decoders"
FORMS: Final = ("text", "json", "hex")
SHOWN_BYTES: Final = 100
"""Of a key, a header's value, or of a value as text or hex."""

Decode = Callable[[bytes, str], Any]


class Shown(NamedTuple):
    """A value as it is shown.

    Args:
        value: None where there is none, or it cannot be shown.
        form: one of `FORMS`, a decoder's name, or `hidden`; None where there is no value.
        error: why the decoder gave nothing.
    """

    value: Any
    form: str | None
    error: ItemError | None = None


class ValueReader:
    """Shows the values of records.

    Args:
        form: one of `FORMS`, or the name of a decoder; None hides them.
        most_bytes: of a value as text or hex.
    Raises:
        UsageError: there is no such decoder, or it cannot be loaded.
    """

    def __init__(self, form: str | None, most_bytes: int = SHOWN_BYTES) -> None:
        self._form, self._most_bytes = form, most_bytes
        self._decode = None if form is None or form in FORMS else _decoder(form)

    def show(self, value: bytes | None, topic: str, target: str) -> Shown:
        """One value.

        Args:
            target: the record's name in messages.
        """
        if value is None:
            return Shown(None, None)
        if self._form is None:
            return Shown(None, "hidden")
        if self._decode is not None:
            return self._decoded(self._decode, value, topic, target)
        if self._form == "json":
            try:
                return Shown(msgspec.json.decode(value), "json")
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pass  # shown as what it is
        text = None if self._form == "hex" else as_text(value, self._most_bytes)
        return (
            Shown(as_hex(value, self._most_bytes), "hex") if text is None else Shown(text, "text")
        )

    def _decoded(self, decode: Decode, value: bytes, topic: str, target: str) -> Shown:
        assert self._form is not None, "it has a name"
        try:
            decoded = msgspec.to_builtins(decode(value, topic))
            msgspec.json.encode(decoded)
        except Exception as error:  # whatever the user's code raises
            text = f"the decoder `{self._form}` failed: {type(error).__name__}: {error}"
            hint = "`--value-as hex` shows the bytes"
            return Shown(None, self._form, ItemError(target, "DECODER_FAILED", text, hint))
        return Shown(decoded, self._form)


def _decoder(name: str) -> Decode:
    points = list(entry_points(group=ENTRY_POINTS, name=name))
    if not points and ":" not in name:
        names = sorted(point.name for point in entry_points(group=ENTRY_POINTS))
        hint = f"one of {', '.join((*FORMS, *names))}, or a decoder as `package.module:function`"
        raise UsageError(f"`{name}` is not a way to show values", hint=hint)
    point = points[0] if points else EntryPoint(name, name, ENTRY_POINTS)
    try:
        decode: Decode = point.load()
    except Exception as error:  # whatever the user's module raises while it is imported
        raise UsageError(
            f"the decoder `{name}` cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    return decode


def as_text(data: bytes, most_bytes: int = SHOWN_BYTES) -> str | None:
    """The start of a text, `…` at its end where it goes on; None if it is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(data[:most_bytes], final=len(data) <= most_bytes)
    except UnicodeDecodeError:
        return None
    return text if len(data) <= most_bytes else f"{text}…"


def as_hex(data: bytes, most_bytes: int = SHOWN_BYTES) -> str:
    """`0x00ff`, likewise."""
    return f"0x{data[:most_bytes].hex()}" + "…" * (len(data) > most_bytes)


def as_either(data: bytes | None) -> str | None:
    """Text where it is some, else hex."""
    if data is None:
        return None
    text = as_text(data)
    return as_hex(data) if text is None else text
