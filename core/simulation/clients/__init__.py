"""Client libraries: their properties, defaults and ways."""
