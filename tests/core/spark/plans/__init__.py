"""Queries written as text."""
