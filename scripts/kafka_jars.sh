#!/usr/bin/env bash
# Fetches Kafka's jars once, with the Ivy that PySpark brings, and prints their folder; keeps their classes as the JVM maps them.
set -euo pipefail
cd "$(dirname "$0")/.."
"${VENV:-.venv}/bin/python" -m tests.support.kafka.jars
"${VENV:-.venv}/bin/python" -m tests.support.kafka.class_archives
