"""What the engine drives: consumers, brokers, ZooKeeper."""
