"""What an autoscaler did."""

from typing import NamedTuple


class Scaling(NamedTuple):
    """It changed the number of pods.

    Args:
        at_ms: from the start of the run.
        lag: records after the last commits then.
    """

    at_ms: int
    before: int
    after: int
    lag: int
