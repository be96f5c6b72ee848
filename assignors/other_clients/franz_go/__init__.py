"""franz-go's sticky strategies, and its racks."""
