"""How new members are spelled: `2:app@rack-a`, or `2:app,client=librdkafka,topics=orders+payments`.

No character in it is one that a shell expands. What stands behind a comma and is no key belongs to
the client id, which may hold any character.
"""

import re
from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.kinds import (
    MAX_MEMBERS,
    AddMembers,
    Dialect,
    Pattern,
)
from kgroups.core.planning.changes.spelling import (
    client_library,
    parse_pattern,
    refuse,
    topic_names,
    whole,
)

FLAG: Final = "--add-members"
FORM: Final = "N[:CLIENT-ID[@RACK]][,KEY=VALUE]..."
KEYS: Final = ("client", "rack", "topics", "pattern", "static")

_KEY: Final = re.compile(rf",(?=(?:{'|'.join(KEYS)})=)")
# A pattern may hold commas, so it is the last key.
_PATTERN: Final = ",pattern="


def parse_add_members(text: str, dialect: Dialect | None = None) -> AddMembers:
    """The change that `--add-members N[:CLIENT-ID[@RACK]][,KEY=VALUE]...` spells.

    Args:
        dialect: whose patterns the group's members use; None: by the new members' library.
    Raises:
        UsageError: not of that form.
    """
    start, found, pattern = text.partition(_PATTERN)
    head, *pairs = _KEY.split(start)
    given: dict[str, str] = {"pattern": pattern} if found else {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key in given:
            raise UsageError(f"`{FLAG} {text}`: `{key}` is given twice", hint=f"expected {FORM}")
        given[key] = value
    for key, value in given.items():
        if not value:
            raise UsageError(f"`{FLAG} {text}`: `{key}` is empty", hint=f"expected {FORM}")
    count, client_id, rack = _head(head, text)
    if rack is not None and "rack" in given:
        raise UsageError(f"`{FLAG} {text}`: the rack is given twice", hint="`@RACK` or `rack=RACK`")
    library = client_library(given["client"], FLAG, text) if "client" in given else None
    topics = topic_names(given["topics"], "+", FLAG, text, FORM) if "topics" in given else None
    return AddMembers(
        count,
        client_id,
        rack or given.get("rack"),
        given.get("static"),
        topics,
        library=library,
        pattern=_pattern(given.get("pattern"), library, dialect),
    )


def _head(head: str, text: str) -> tuple[int, str | None, str | None]:
    """Count, client id and rack before the first key."""
    number, colon, rest = head.partition(":")
    known = next((key for key in KEYS if number.startswith(f"{key}=")), None)
    if known is not None:
        raise UsageError(
            f"`{FLAG} {text}`: the number of members is missing", hint=f"expected {FORM}"
        )
    wrong = re.search(r",(\w+)=", number)
    if wrong is not None:
        raise UsageError(
            f"`{FLAG} {text}`: unknown key `{wrong[1]}`", hint=f"keys: {', '.join(KEYS)}"
        )
    count = whole(number, text, FLAG, FORM, MAX_MEMBERS)
    # A client id may hold any character; a rack cannot hold `@`, so the last one divides.
    client_id, at, rack = rest.rpartition("@") if "@" in rest else (rest, "", "")
    if (colon and not client_id and not rack) or (at and not rack):
        refuse(FLAG, text, FORM)
    return count, client_id or None, rack or None


def _pattern(text: str | None, library: str | None, dialect: Dialect | None) -> Pattern | None:
    if text is None:
        return None
    own: Dialect = "librdkafka" if library == "librdkafka" else "java"
    return parse_pattern(text, dialect if library is None and dialect is not None else own)
