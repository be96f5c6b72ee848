"""What a heartbeat and its timers do to a KIP-848 group."""
