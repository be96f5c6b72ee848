"""The embedded cluster: Kafka's wire protocol on loopback, over the coordinator library."""
