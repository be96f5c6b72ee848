"""Tasks of streams groups (KIP-1071), as brokers assign them."""
