"""Spark sessions: local, on a master, or through Spark Connect."""
