"""`reset-offsets --wait-empty` and `--watch-after` on the embedded cluster."""

from tests.kafka.writes import test_vigil as suite
from tests.support.sandbox.shared_suites import take_over

take_over(suite, globals(), {})
