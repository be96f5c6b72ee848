"""When commits expire, on the embedded cluster: the tests of the real broker."""

from tests.kafka.reads import test_expiry as suite
from tests.support.sandbox.shared_suites import take_over

take_over(suite, globals(), {})
