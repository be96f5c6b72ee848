"""Queries written as SQL text: whatever their size, Spark is called once and analyses once."""
