"""Actors that the engine drives: consumers, brokers, ZooKeeper."""
