"""`--debug`: a line on stderr for each request that goes to a broker."""

import sys

from kgroups.cli.output.escapes import printable
from kgroups.core.kafka.config.tracing import RequestTrace


def tell_request(request: RequestTrace) -> None:
    """Write the line: broker, API and version, how long it took, bytes; nothing that was sent."""
    if request.failure is None:
        ending = f"{_bytes(request.received_bytes)} received"
    else:
        ending = f"no answer: {request.failure}"
    line = (
        f"debug: {request.broker} {request.api} v{request.version}"
        f" {request.duration_ms:.1f} ms, {_bytes(request.sent_bytes)} sent, {ending}"
    )
    sys.stderr.write(printable(line) + "\n")
    sys.stderr.flush()


def _bytes(count: int | None) -> str:
    return "? bytes" if count is None else f"{count} bytes"
