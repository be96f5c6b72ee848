"""Fixtures of the tests of lag reports."""

from tests.support.lag.engines import engine, session

__all__ = ["engine", "session"]
