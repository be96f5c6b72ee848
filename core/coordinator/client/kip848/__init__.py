"""A member of a KIP-848 group."""
