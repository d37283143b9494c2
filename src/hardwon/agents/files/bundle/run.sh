#!/bin/sh
# Starts the hardwon that is installed on this machine. Graphical clients have a short PATH, so that the usual places are tried as well.
# `run.sh hook` without a client: Codex sets PLUGIN_ROOT for the hooks of a plugin, Claude Code does not.
if [ "$1" = hook ] && [ $# -eq 1 ]; then
  if [ -n "$PLUGIN_ROOT" ]; then set -- hook codex; else set -- hook claude-code; fi
fi
for program in hardwon "$HOME/.local/bin/hardwon" /opt/homebrew/bin/hardwon /usr/local/bin/hardwon; do
  if command -v "$program" >/dev/null 2>&1; then exec "$program" "$@"; fi
done
if [ "$1" = hook ]; then exit 0; fi # not installed: the agent goes on without a memory
echo "hardwon is not installed: pipx install hardwon" >&2
exit 1
