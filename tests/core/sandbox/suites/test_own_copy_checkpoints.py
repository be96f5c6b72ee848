"""`copy-offsets --checkpoints` on the embedded cluster: the tests of the real broker."""

from tests.kafka.writes import test_copy_checkpoints as suite
from tests.support.sandbox.shared_suites import take_over

take_over(suite, globals(), {})
