"""What client libraries are like: their properties, defaults and ways."""
