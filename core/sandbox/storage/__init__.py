"""Topics, logs and the data directory of the embedded cluster."""
