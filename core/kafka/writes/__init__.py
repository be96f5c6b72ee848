"""Writes to a cluster, with an outcome for each item."""
