"""Faults of a group, from facts about it. Pure."""
