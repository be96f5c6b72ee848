"""Runs of a scenario: virtual time, network, processes, events."""
