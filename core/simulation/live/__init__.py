"""Scenarios from groups as they are: what a cluster or captures tell, and what is assumed."""
