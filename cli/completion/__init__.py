"""Completion scripts, and names completed live."""
