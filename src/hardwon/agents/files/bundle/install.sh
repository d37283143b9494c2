#!/bin/sh
# A dev container feature: installs hardwon, and makes the folder that the volume is mounted on, owned by the user of the container.
set -e
PACKAGE="${PACKAGE:-hardwon}"
if [ -n "$VERSION" ] && [ "$VERSION" != latest ]; then PACKAGE="$PACKAGE==$VERSION"; fi

python=""
for name in python3.13 python3.12 python3.11 python3; do
  if command -v "$name" >/dev/null 2>&1 && "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python="$name"
    break
  fi
done
if [ -z "$python" ]; then
  echo "hardwon needs Python 3.11 or newer with venv: add the feature ghcr.io/devcontainers/features/python, or use an image that has it" >&2
  exit 1
fi
"$python" -m venv /opt/hardwon
/opt/hardwon/bin/pip install --quiet --disable-pip-version-check "$PACKAGE"
ln -sf /opt/hardwon/bin/hardwon /usr/local/bin/hardwon

# An empty volume takes over the owner and the rights of the folder that it is mounted on.
mkdir -p /var/lib/hardwon
chmod 700 /var/lib/hardwon
chown "${_REMOTE_USER:-root}" /var/lib/hardwon
