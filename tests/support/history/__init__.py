"""Logs of groups, written a record at a time."""
