"""Captures of a cluster as Parquet files, and their reader."""
