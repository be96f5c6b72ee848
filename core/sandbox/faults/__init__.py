"""Faults of the embedded cluster: by request, and at a time."""
