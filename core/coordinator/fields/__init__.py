"""Requests and answers as fields by name, the form between bytes and the coordinator's messages."""
