"""PySpark data sources over a live cluster: `consumer_offsets` and `kafka_groups`."""
