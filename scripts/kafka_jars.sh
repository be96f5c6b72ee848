#!/usr/bin/env bash
# Fetches Kafka's jars once, with the Ivy that PySpark brings, and prints their folder.
set -euo pipefail
cd "$(dirname "$0")/.."
exec "${VENV:-.venv}/bin/python" -m tests.support.kafka.jars
