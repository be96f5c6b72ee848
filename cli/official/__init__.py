"""The grammar and the layouts of Kafka's own tools, for scripts that exist."""
