"""How much memory one message may take, estimated while it is read.

An array's elements are paid for before the first is made: four bytes that announce a billion of
them cost nothing. The estimate is what CPython's objects take, rounded up.
"""

from typing import Final

TEXT_COST: Final = 60
NUMBER_COST: Final = 32
STRUCT_COST: Final = 56
SLOT_COST: Final = 8
LONG_TEXT: Final = 127
WIDE: Final = 4
"""Bytes that a character of a Python string may take."""


class MemoryLimitError(Exception):
    """The message would take more memory than it may."""


class Room:
    """Memory that the answers to one question share, whichever brokers they are from.

    Args:
        total: bytes.
    """

    __slots__ = ("left", "total")

    def __init__(self, total: int) -> None:
        self.total = self.left = total

    @property
    def spent(self) -> int:
        """Bytes that the answers have taken so far."""
        return self.total - self.left

    def clear(self) -> None:
        """The next question begins: what the last one was told is not kept here."""
        self.left = self.total


class Budget:
    """Memory that is left to one message.

    Args:
        left: bytes.
        room: that it shares with other messages.
    """

    __slots__ = ("left", "room", "spent")

    def __init__(self, left: int, room: Room | None = None) -> None:
        self.left = left if room is None else min(left, room.left)
        self.room = room
        self.spent = 0

    def spend(self, cost: int) -> None:
        """Take this much.

        Raises:
            MemoryLimitError: there is less.
        """
        self.left -= cost
        if self.left < 0:
            raise MemoryLimitError
        self.spent += cost

    def keep(self) -> None:
        """The message is read: what it costs is taken from the room that is shared."""
        if self.room is not None:
            self.room.left -= self.spent
