"""Records of `__consumer_offsets`, as values and as bytes."""
