"""Which addresses of this machine's own a test can bind."""

import socket
from contextlib import closing
from typing import Final


def _has_ipv6() -> bool:
    try:
        with closing(socket.socket(socket.AF_INET6)) as taken:
            taken.bind(("::1", 0))
    except OSError:
        return False
    return True


HAS_IPV6: Final = _has_ipv6()
"""Whether `::1` is there."""
