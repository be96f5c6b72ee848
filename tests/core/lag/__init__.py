"""Tests of the lag arithmetic and of the Spark pipeline."""
