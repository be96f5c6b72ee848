"""The consumer group protocol of KIP-848 on the broker."""
