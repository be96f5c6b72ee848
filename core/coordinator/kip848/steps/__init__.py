"""Effects of a heartbeat and its timers on a KIP-848 group."""
