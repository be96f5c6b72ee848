"""The same through librdkafka, for ways in that the wire client lacks."""
