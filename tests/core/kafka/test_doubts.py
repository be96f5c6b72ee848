"""Which failures leave a doubt, and what is said in the end."""

import pytest

from kgroups.core.kafka.doubts import Doubts, Failure
from kgroups.core.kafka.failures import BrokerFailure, Lost
from kgroups.core.offsets.result import Doubt

LOST = Lost("REQUEST_TIMED_OUT")
UNREADABLE = Lost("CORRUPT_MESSAGE")
NEVER_SENT = BrokerFailure("BROKER_NOT_AVAILABLE")


@pytest.mark.parametrize(
    ("attempts", "code", "in_flight"),
    [
        ([LOST], "REQUEST_TIMED_OUT", True),
        ([LOST, NEVER_SENT], "REQUEST_TIMED_OUT", True),
        ([NEVER_SENT, LOST], "REQUEST_TIMED_OUT", True),
        ([LOST, "NOT_COORDINATOR"], "REQUEST_TIMED_OUT", True),
        (["NOT_COORDINATOR", LOST], "REQUEST_TIMED_OUT", True),
        (["NOT_COORDINATOR"], "NOT_COORDINATOR", False),
        (["NOT_COORDINATOR", NEVER_SENT], "BROKER_NOT_AVAILABLE", False),
        ([LOST, "NON_EMPTY_GROUP"], "NON_EMPTY_GROUP", False),
        ([UNREADABLE], "CORRUPT_MESSAGE", False),
        ([NEVER_SENT], "BROKER_NOT_AVAILABLE", None),
        (["NON_EMPTY_GROUP"], "NON_EMPTY_GROUP", None),
        (["COORDINATOR_LOAD_IN_PROGRESS"], "COORDINATOR_LOAD_IN_PROGRESS", None),
        ([LOST, None], None, None),
    ],
)
def test_doubt(attempts: list[Failure], code: str | None, *, in_flight: bool | None) -> None:
    """A request that was sent without an answer outweighs what came later, unless that is final."""
    doubts: Doubts[str] = Doubts()
    for failure in attempts:
        doubts.note("item", failure)
    error = doubts.error("item", "target", attempts[-1])
    assert (None if error is None else error.code) == code
    assert isinstance(error, Doubt) is (in_flight is not None)
    if isinstance(error, Doubt):
        assert error.in_flight is in_flight
        assert error.message == f"outcome unknown: {error.cause}"
    assert doubts.error("another", "target", NEVER_SENT) is not None
    assert not doubts.holds("another")
