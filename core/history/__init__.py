"""The history of a group, out of its records: pure functions from records to changes."""
