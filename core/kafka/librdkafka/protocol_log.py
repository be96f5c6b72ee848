"""librdkafka's own log of requests as `RequestTrace`s: it is told when the client is polled."""

import logging
import re
from typing import Final

from kgroups.core.kafka.config.tracing import RequestTrace, Trace

_LINE: Final = re.compile(
    r"(?:\w+://)?(?P<broker>[^/\s]+)/\S+: (?P<what>Sent|Received) "
    r"(?P<api>\w+?)(?:Request|Response) \(v(?P<version>\d+), (?P<bytes>\d+) bytes"
    r".*?CorrId (?P<id>\d+)(?:, rtt (?P<ms>[\d.]+)ms)?\)"
)
_SPELLING: Final = {"ApiVersion": "ApiVersions"}


class ProtocolLog(logging.Handler):
    """Puts requests and answers together; every other line is dropped unread.

    Args:
        trace: told of each answer.
    """

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace
        self._sent: dict[tuple[str, str], int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Take one line."""
        message = record.getMessage()
        found = _LINE.search(message)
        if found is None:
            return
        connection = re.search(r"\[thrd:(.*?)\]:", message)
        request = (connection[1] if connection else found["broker"], found["id"])
        if found["what"] == "Sent":
            self._sent[request] = int(found["bytes"])
            return
        self._trace(
            RequestTrace(
                found["broker"],
                _SPELLING.get(found["api"], found["api"]),
                int(found["version"]),
                float(found["ms"] or 0.0),
                self._sent.pop(request, None),
                int(found["bytes"]),
            )
        )


def protocol_logger(trace: Trace) -> logging.Logger:
    """A logger for one client, beside the loggers of the process."""
    logger = logging.Logger("kgroups.librdkafka", logging.DEBUG)
    logger.addHandler(ProtocolLog(trace))
    return logger
