"""Several APIs answer about one group: the answer that says most."""

from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.reads.group_listing import _choose

GONE = BrokerFailure("GROUP_ID_NOT_FOUND")
OLD = BrokerFailure("UNSUPPORTED_VERSION")
HIDDEN = BrokerFailure("GROUP_AUTHORIZATION_FAILED")


def test_the_answer_that_says_most() -> None:
    """Brokers of 3.9 offer ConsumerGroupDescribe and refuse it: that says nothing of a group."""
    assert _choose((GONE, OLD)) is GONE
    assert _choose((GONE, HIDDEN, OLD)) is HIDDEN
    assert _choose((OLD,)) is OLD
