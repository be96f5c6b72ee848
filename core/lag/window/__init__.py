"""Lag over a window of time: rates, trends, verdicts, commit history."""
