"""What assignors assign."""

TopicPartition = tuple[str, int]
"""A partition: the name of its topic and its number. The coordinator's own type is one of these."""
