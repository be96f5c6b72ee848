"""What is asked before writes, on the embedded cluster: the tests of the real broker."""

from tests.kafka.writes import test_prompts as suite
from tests.support.sandbox.shared_suites import take_over

take_over(suite, globals(), {})
