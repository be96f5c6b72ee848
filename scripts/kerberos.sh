#!/usr/bin/env bash
# Installs MIT's KDC, its headers and a C compiler, which the tests of Kerberos use, where they are missing and may be.
set -euo pipefail
PATH=$PATH:/usr/sbin:/usr/local/sbin
missing=()
for name in krb5kdc kdb5_util kadmin.local kinit klist krb5-config cc; do
  command -v "$name" >/dev/null || missing+=("$name")
done
[ ${#missing[@]} = 0 ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "set-up: for the tests of Kerberos there is no ${missing[*]}: on Debian, apt-get install krb5-kdc krb5-admin-server krb5-user libkrb5-dev gcc" >&2
  exit 1
fi
echo "set-up: installing a KDC for the tests of Kerberos" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends krb5-kdc krb5-admin-server krb5-user libkrb5-dev gcc libc6-dev >&2
