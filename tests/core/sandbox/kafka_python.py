"""kafka-python, imported quietly: it uses an importlib function that Python deprecates."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import (
        KafkaAdminClient,
        KafkaConsumer,
        KafkaProducer,
        TopicPartition,
    )

__all__ = [
    "KafkaAdminClient",
    "KafkaConsumer",
    "KafkaProducer",
    "TopicPartition",
]
