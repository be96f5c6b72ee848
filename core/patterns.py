"""Patterns of topic names as a broker reads them: RE2, with RE2/J's words for what is wrong."""

import re
from collections.abc import Callable, Iterator, Mapping

from kgroups.core.errors import PatternError

# What RE2/J, which a broker uses, says where the C++ library says something else.
JAVA_WORDS: Mapping[str, str] = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid escape sequence": "invalid escape sequence",
    "trailing \\": "trailing backslash at end of expression",
    "unexpected )": "regexp/syntax: internal error",
    "invalid named capture group": "invalid named capture",
    "duplicate capture group name": "duplicate capture group name",
}

# Quoted text and character classes are passed over as a whole.
_PIECE = re.compile(
    r"\\Q.*?(?:\\E|$)|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|(?P<keep>\\.|\(\?P?<\w+>)", re.DOTALL
)


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """A test of whether a whole topic name matches an RE2 pattern.

    Raises:
        PatternError: it does not compile; the text is RE2/J's where we know it.
    """
    import re2  # most commands are given no pattern, and start without it

    refusal = _refused_by_java(pattern)
    if refusal is not None:
        raise PatternError(refusal)
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as broken:
        raw = broken.args[0] if broken.args else ""
        text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        problem, _, _ = text.partition(":")
        raise PatternError(JAVA_WORDS.get(problem, problem)) from broken

    def matches(name: str) -> bool:
        return compiled.fullmatch(name) is not None

    return matches


def _refused_by_java(pattern: str) -> str | None:
    """Patterns that RE2 accepts and RE2/J does not: `\\C`, and one name for two groups."""
    names: set[str] = set()
    for piece in _pieces(pattern):
        if piece == "\\C":
            return "invalid escape sequence"
        if piece.startswith("(?"):
            name = piece[piece.index("<") :]
            if name in names:
                return "duplicate capture group name"
            names.add(name)
    return None


def _pieces(pattern: str) -> Iterator[str]:
    """Escapes and heads of named groups that stand outside character classes and quotations."""
    for match in _PIECE.finditer(pattern):
        if match["keep"]:
            yield match["keep"]
