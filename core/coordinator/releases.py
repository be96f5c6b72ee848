"""The rules in which releases of Kafka's coordinator differ: a row each, and where it came from.

Whatever is the same from 4.3.0 on has no row. Source: each release's own coordinator, asked the
same things (tests/core/coordinator/test_recorded.py).
"""

from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple, Self
from uuid import UUID

from kgroups.core.errors import UsageError
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.uuids import uuid_text


class Release(NamedTuple):
    """A release of Kafka: `4.4.0`."""

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """The release that a text names: `4.4`, which is 4.4.0, or `4.3.1`.

        Raises:
            UsageError: it names none.
        """
        parts = text.split(".")
        if len(parts) not in (2, 3) or not all(part.isascii() and part.isdigit() for part in parts):
            raise UsageError(f"`{text}` is not a release of Kafka", hint="expected 4.3.1 or 4.4")
        return cls(*map(int, parts))

    def __str__(self) -> str:
        return ".".join(map(str, self))

    def follows(self, rule: "Rule") -> bool:
        """Whether its coordinators do so."""
        return self >= rule.since


V4_3_0: Final = Release(4, 3, 0)
V4_3_1: Final = Release(4, 3, 1)
V4_4_0: Final = Release(4, 4, 0)
RELEASES: Final = (V4_3_0, V4_3_1, V4_4_0)
"""Those that the coordinator was held to, oldest first; a later one counts as the last."""


class Rule(Enum):
    """A behaviour of coordinators from one release on; earlier ones have the other.

    Each is since when, and what it is. The tickets are not told by the code that was asked.
    """

    DISABLED_MIGRATION_REFUSES = (
        V4_3_1,
        "where the migration policy is `disabled`, a classic JoinGroup into a consumer group is"
        " answered with INCONSISTENT_GROUP_PROTOCOL",
    )
    TARGET_OF_THE_EMPTY = (
        V4_4_0,
        "a group that loses its last member also writes the epoch of its target",
    )
    ASSIGNOR_CHANGE_BUMPS = (
        V4_4_0,
        "the group epoch moves on when what members ask for elects another assignor",
    )
    FULL_GROUP_TAKES_BACK = (
        V4_4_0,
        "whoever names an instance id of the group passes the check of its size, so that a static"
        " member may return to a full group",
    )
    INSTANCE_IDS_ARE_FREED = (
        V4_4_0,
        "a member that takes another instance id gives up the former one; before, that pointed on"
        " to the member, also once it was gone",
    )
    TAKEN_OVER_TARGET_COUNTS = (
        V4_4_0,
        "the target of a member that takes a static member's place is written anew only where it"
        " is another one; before, always",
    )
    UNREADABLE_SUBSCRIPTION_IS_INCONSISTENT = (
        V4_4_0,
        "JoinGroup into a consumer group with a subscription that cannot be read is answered with"
        " INCONSISTENT_GROUP_PROTOCOL, not UNKNOWN_SERVER_ERROR",
    )
    PLAIN_IDS = (
        V4_4_0,
        "an id that holds a `-` is drawn again; before, one that begins with it",
    )

    def __init__(self, since: Release, what: str) -> None:
        self.since = since
        self.what = what


_SINCE_4_4: Final = (Api.DELETE_GROUPS, 3)


def releases_offering(newest: Callable[[Api], int | None]) -> tuple[Release, ...]:
    """The releases whose rules a broker may follow, oldest first.

    Patch releases offer the same versions; a broker that is older than all of them counts as one
    of the first.

    Args:
        newest: version of an API that the broker offers; None: it does not have the API.
    """
    api, version = _SINCE_4_4
    is_new = (newest(api) or 0) >= version
    return tuple(release for release in RELEASES if (release >= V4_4_0) is is_new)


def draw_id(new_id: Callable[[], UUID], release: Release) -> UUID:
    """An id of a topic, or of a member of a KIP-848 group, as this release draws it.

    Source: `Uuid.randomUuid`.
    """
    while True:
        drawn = new_id()
        text = uuid_text(drawn)
        if "-" not in (text if release.follows(Rule.PLAIN_IDS) else text[:1]):
            return drawn
