"""What an ensemble was asked and had to tell, counted by session: the size of the herd."""

from collections import Counter
from dataclasses import dataclass, field

from kgroups.core.zookeeper.protocol import Api, WatchEvent


@dataclass(slots=True)
class Tally:
    """Counts since the beginning.

    Attributes:
        reads: by session and operation.
        writes: by session and operation, refused ones too.
        notices: watches that fired, by session and path.
        expired: sessions that timed out.
    """

    reads: Counter[tuple[int, Api]] = field(default_factory=Counter)
    writes: Counter[tuple[int, Api]] = field(default_factory=Counter)
    notices: Counter[tuple[int, str]] = field(default_factory=Counter)
    expired: int = 0

    def read(self, session_id: int, api: Api) -> None:
        """Count a read."""
        self.reads[session_id, api] += 1

    def write(self, session_id: int, api: Api) -> None:
        """Count a write."""
        self.writes[session_id, api] += 1

    def notify(self, session_id: int, event: WatchEvent) -> None:
        """Count a watch that fired."""
        self.notices[session_id, event.path] += 1
