"""Reads from a cluster, one kind of answer a module."""
