"""What kinds of values properties have, and how a file's text becomes one."""

import re
from typing import Final, Literal

PropertyKind = Literal["flag", "whole", "number", "text"]
FLAG: Final[PropertyKind] = "flag"
WHOLE: Final[PropertyKind] = "whole"
NUMBER: Final[PropertyKind] = "number"
TEXT: Final[PropertyKind] = "text"

_FLAGS: Final = {"true": True, "false": False}
_WHOLE: Final = re.compile(r"[+-]?\d{1,19}")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

EXPECTED: Final[dict[PropertyKind, str]] = {
    "flag": "true or false",
    "whole": "a whole number",
    "number": "a number",
    "text": "text",
}


def plain_value(kind: PropertyKind, text: str) -> object | None:
    """The value that a client reads from this text; None where it would not start."""
    text = text.strip()
    if kind == "flag":
        return _FLAGS.get(text.lower())
    if kind == "whole":
        return int(text) if _WHOLE.fullmatch(text) else None
    if kind == "number":
        return float(text) if _NUMBER.fullmatch(text) else None
    return text
