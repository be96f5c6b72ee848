#!/usr/bin/env bash
# Makes the virtual environment and says what it waits for. Run again, it does nothing.
#
# scripts/setup.sh demo    the package with Spark: what `make demo` runs
# scripts/setup.sh         everything that the tests run, too
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}
for=${1:-tests}

fail() {
  printf 'error: %s\n\nhint: %s\n' "$1" "$2" >&2
  exit 2
}

command -v "$PYTHON" >/dev/null || fail "\`$PYTHON\` is not there" "install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3.11 test"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "\`$PYTHON\` is $("$PYTHON" -V 2>&1)" "kgroups needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11 test"
scripts/check_java.sh "$for"

if [ ! -x "$VENV/bin/python" ]; then
  echo "set-up: making the virtual environment in $VENV" >&2
  "$PYTHON" -m venv "$VENV"
fi
install() {
  PIP_CONSTRAINT="$PWD/constraints.txt" "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "${@:2}" -e ".[$1]"
}
if [ "$for" = demo ]; then
  echo "set-up: installing kgroups and PySpark (about 500 MB, a minute or more)" >&2
  install spark --no-compile # Python compiles the few modules that the demo imports
else
  echo "set-up: installing kgroups and its pinned dependencies (PySpark is large: about 500 MB, a minute or more)" >&2
  install all,dev
  # No wheels for Linux: built where it can be, for the tests of Kerberos. Without it they are named as not run.
  if command -v krb5-config >/dev/null && { command -v cc || command -v gcc; } >/dev/null; then
    install kerberos || echo "set-up: gssapi could not be built; the tests of Kerberos will not run" >&2
  fi
fi
if [ "$for" != demo ]; then
  # As a wheel's installer does: no start pays for compiling our own modules.
  "$VENV/bin/python" -m compileall -q assignors core cli public || true
  VENV="$VENV" scripts/kafka_jars.sh >/dev/null
  # Tests, too: by one process, and not by each of those that `make test` starts.
  "$VENV/bin/python" -m pytest tests --collect-only -qq >/dev/null || true
fi
echo "set-up: done" >&2
