"""A real Kafka Streams application for the tests."""
