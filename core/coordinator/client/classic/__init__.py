"""A member of a classic group."""
