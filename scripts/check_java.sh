#!/usr/bin/env bash
# Ends with 2 and a hint unless a JDK 17 or newer is on PATH. First of all, before any download.
# `scripts/check_java.sh demo` asks for a Java that runs programs, not for a compiler.
set -euo pipefail
MINIMUM=17
HINT="install a JDK $MINIMUM or newer (on Debian and Ubuntu: apt-get install openjdk-$MINIMUM-jdk-headless) and put its \`java\` and \`javac\` first on PATH"

fail() {
  printf 'error: %s\n\nhint: %s\n' "$1" "$HINT" >&2
  exit 2
}

programs=(java javac)
[ "${1:-}" != demo ] || programs=(java)
for program in "${programs[@]}"; do
  command -v "$program" >/dev/null || fail "\`$program\` is not on PATH"
  said=$("$program" -version 2>&1) || fail "\`$program -version\` answers: ${said%%$'\n'*}"
  [[ $said =~ (version\ \"|javac\ )(1\.)?([0-9]+) ]] || fail "\`$program -version\` answers: ${said%%$'\n'*}"
  ((BASH_REMATCH[3] >= MINIMUM)) ||
    fail "\`$program\` is version ${BASH_REMATCH[3]}, the Kafka of the tests needs $MINIMUM"
done
