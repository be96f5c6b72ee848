"""The classic strategies, equal to Kafka's own classes."""
