"""`copy-offsets --match records` on embedded clusters: the tests of the real broker."""

from tests.kafka.writes import test_copy_matches as suite
from tests.support.sandbox.shared_suites import take_over

take_over(suite, globals(), {})
