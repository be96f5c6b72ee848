"""Every group of a cluster planned inside Spark."""
