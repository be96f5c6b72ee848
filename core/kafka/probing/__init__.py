"""A staged test of the way to a cluster: what works, and what to do about what does not."""
