"""What a partition remembers of idempotent producers, to drop repeats and see gaps.

Source: Kafka's ProducerStateManager and ProducerAppendInfo; the last five batches are kept.
"""

from collections import deque
from dataclasses import dataclass, field

from kgroups.core.protocol.batches import BatchHeader
from kgroups.core.protocol.errors import ErrorCode

_REMEMBERED_BATCHES = 5
_SEQUENCE_LIMIT = 2**31


@dataclass(slots=True)
class _Producer:
    epoch: int
    batches: deque[tuple[int, int, int]] = field(
        default_factory=lambda: deque(maxlen=_REMEMBERED_BATCHES)
    )
    """(first sequence, last sequence, base offset), oldest first."""


@dataclass(slots=True)
class ProducerStates:
    """Epoch and last batches of each producer id."""

    _producers: dict[int, _Producer] = field(default_factory=dict)

    def check(self, header: BatchHeader) -> tuple[ErrorCode, int | None]:
        """Whether this batch may be appended.

        Returns:
            An error, or none with the offset of an earlier append of the same batch, or none
            with None: append it.
        """
        if header.producer_id < 0:
            return ErrorCode.NONE, None
        known = self._producers.get(header.producer_id)
        if known is None:
            return ErrorCode.NONE, None
        if header.producer_epoch < known.epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH, None
        if header.producer_epoch > known.epoch:
            fits = header.base_sequence == 0
            return (ErrorCode.NONE if fits else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER), None
        last_sequence = _last_sequence(header)
        for first, last, base_offset in known.batches:
            if first == header.base_sequence and last == last_sequence:
                return ErrorCode.NONE, base_offset
        if known.batches and header.base_sequence != (known.batches[-1][1] + 1) % _SEQUENCE_LIMIT:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, None
        return ErrorCode.NONE, None

    def record(self, header: BatchHeader, base_offset: int) -> None:
        """Remember a batch that was appended."""
        if header.producer_id < 0:
            return
        known = self._producers.get(header.producer_id)
        if known is None or known.epoch != header.producer_epoch:
            known = self._producers[header.producer_id] = _Producer(header.producer_epoch)
        known.batches.append((header.base_sequence, _last_sequence(header), base_offset))


def _last_sequence(header: BatchHeader) -> int:
    return (header.base_sequence + header.last_offset_delta) % _SEQUENCE_LIMIT
