#!/usr/bin/env bash
# Installs Debian's Chromium, which the tests of HTML pages use, where it is missing and may be.
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "set-up: Chromium is not here: on Debian, apt-get install chromium" >&2
  exit 1
fi
echo "set-up: installing Chromium for the tests of HTML pages" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends chromium >&2
