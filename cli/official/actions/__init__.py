"""The actions of Kafka's tools, and the values that they take."""
