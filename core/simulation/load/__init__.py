"""How many records come to a topic, and to which of its partitions."""
