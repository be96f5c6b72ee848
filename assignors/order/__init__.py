"""The iteration order of Java's hash collections."""
