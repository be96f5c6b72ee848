"""Detectors: each a pure function from the facts of a group to findings."""
