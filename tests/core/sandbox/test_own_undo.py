"""Undo and resume on the embedded cluster: the tests of the real broker."""

from tests.core.sandbox.shared import take_over
from tests.kafka import test_undo as suite

take_over(suite, globals(), {})
