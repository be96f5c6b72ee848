"""Strategies that balance lag."""
