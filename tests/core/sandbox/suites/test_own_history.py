"""What became of a group, out of the embedded cluster's log: the tests of the real broker."""

from tests.kafka.reads import test_history as suite
from tests.support.sandbox.shared_suites import take_over

take_over(suite, globals(), {})
