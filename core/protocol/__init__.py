"""Kafka's messages as bytes: tables of their fields, a codec, frames, record batches, errors."""
