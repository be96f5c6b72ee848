"""Task assignment of streams groups, equal to Kafka's."""
