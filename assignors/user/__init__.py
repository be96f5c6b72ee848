"""Strategies of the user's own: found, guarded, checked; and examples."""
