"""The iteration order of Java's and Kafka's hash collections."""
