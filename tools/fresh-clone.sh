#!/usr/bin/env bash
# What a newcomer gets: in a clone of HEAD `npm ci` and `npm install` succeed, warn of nothing and change no file, and the first
# build tells that it is building.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
git clone --quiet --local --no-hardlinks . "$directory/clone"
cd "$directory/clone"
for command in ci install; do
  rm -rf node_modules
  npm "$command" >"$directory/log" 2>&1 || { cat "$directory/log"; exit 1; }
  # Warnings about a user's own configuration are not ours.
  if grep '^npm warn' "$directory/log" | grep -v 'user config\|env config'; then
    echo "npm $command warns on a fresh clone"
    exit 1
  fi
  changed=$(git status --porcelain)
  if [ -n "$changed" ]; then
    printf 'npm %s changes a fresh clone:\n%s\n' "$command" "$changed"
    exit 1
  fi
done
npm run --silent build >"$directory/log" 2>&1 || { cat "$directory/log"; exit 1; }
if ! grep -q '^Building ' "$directory/log"; then
  echo "the first build of a fresh clone is silent"
  exit 1
fi
echo "npm ci and npm install change nothing in a fresh clone, and its first build tells that it builds"
