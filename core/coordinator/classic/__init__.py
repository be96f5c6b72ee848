"""The classic protocol on the broker."""
