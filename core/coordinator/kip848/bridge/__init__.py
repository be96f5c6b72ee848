"""Classic members in a KIP-848 group, and conversion in both directions."""
