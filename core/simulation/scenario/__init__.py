"""A scenario as values, and how it is read and varied."""
