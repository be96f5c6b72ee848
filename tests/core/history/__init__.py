"""The history of groups, out of their records."""
