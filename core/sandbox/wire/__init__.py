"""Listeners, connections and frames of the embedded cluster."""
