"""Fixtures of the lag tests."""

from tests.spark import spark

__all__ = ["spark"]
