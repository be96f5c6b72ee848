"""Conditions on the figures of documents: what `--fail-on`, `--until` and `--where` take."""
