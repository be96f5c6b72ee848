"""A search over settings for what costs least."""
