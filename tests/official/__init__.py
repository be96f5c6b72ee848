"""The official grammar against Kafka's own tools, and its parts by themselves."""
