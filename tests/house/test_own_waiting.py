"""What counts as waiting, where a test holds the time that something takes against a promise."""

import threading
import time

from tests.support.own_waiting import OwnWaiting


def test_waiting_counts_and_work_does_not() -> None:
    """A wait counts in full; half a second of work, and whatever it is kept from, does not."""
    with OwnWaiting() as idle:
        threading.Event().wait(0.2)
    assert idle.seconds > 0.15
    with OwnWaiting() as busy:
        end = time.thread_time() + 0.5
        while time.thread_time() < end:
            pass
    assert busy.seconds < 0.25
