"""Tests of the PySpark data sources."""
