"""Kafka's messages, frames and record batches."""
