"""What applications do with their consumers, as data."""
