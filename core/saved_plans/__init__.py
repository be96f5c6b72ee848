"""Plans of writes as files: saved, reviewed, and applied to what still stands as it did."""
