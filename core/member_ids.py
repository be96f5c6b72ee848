"""Member ids, whole and short: a beginning that only one member's id has stands for that id."""

import re
from collections.abc import Iterable
from itertools import pairwise, takewhile
from typing import Final

from kgroups.core.errors import UsageError

CUT: Final = "…"
"""The mark for the rest of a shortened id; an id may be given back with it."""

_UUID: Final = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_OF_UUID: Final = 4
_LEAST: Final = 8
_NAMED: Final = 3


def whole_id(text: str, ids: Iterable[str], group: str) -> str | None:
    """The member id that a text stands for: that id itself, or the only one that begins so.

    Returns:
        None where no id begins so.
    Raises:
        UsageError: several do; the hint names some.
    """
    known_ids = set(ids)
    start = text.removesuffix(CUT)
    if text in known_ids or not start:
        return text if text in known_ids else None
    matches = sorted(known_id for known_id in known_ids if known_id.startswith(start))
    if len(matches) > 1:
        more = f" and {len(matches) - _NAMED} more" if len(matches) > _NAMED else ""
        raise UsageError(
            f"`{text}` is ambiguous: {len(matches)} members of `{group}` have ids that begin so",
            hint=f"use more of one: {', '.join(matches[:_NAMED])}{more}",
        )
    return matches[0] if matches else None


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Each id as short as it can be told from the others, with `…`; whole where that saves nothing.

    Ids that clients make end in a UUID: what stands before it, which is the client id or the
    instance id, is kept, and some of the UUID, so that few other members begin so.
    """
    ordered = sorted(set(ids))
    needed = dict.fromkeys(ordered, 1)
    for first, other in pairwise(ordered):
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, other, strict=False))
        shared = sum(1 for _ in alike) + 1
        needed[first], needed[other] = max(needed[first], shared), shared
    return {m: _cut(m, max(count, _least(m))) for m, count in needed.items()}


def _least(member_id: str) -> int:
    uuid = _UUID.search(member_id)
    return _LEAST if uuid is None else uuid.start() + 1 + _OF_UUID


def _cut(member_id: str, count: int) -> str:
    return member_id if count + 1 >= len(member_id) else member_id[:count] + CUT
