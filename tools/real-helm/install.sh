#!/usr/bin/env bash
# Prints the path of the real helm, building it from its Go module when it is missing.
#
#   HELM             when set, it is used as it is and nothing is built.
#   LIFEBOAT_CACHE   where builds are kept (default: $XDG_CACHE_HOME/lifeboat or ~/.cache/lifeboat).
#
# A build of its own, not a recipe of ../real-kubernetes: that directory's checksum names the cache of the Kubernetes binaries,
# and another helm must not build all of them again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ -n "${HELM:-}" ] && [ -x "$HELM" ]; then echo "$HELM"; exit 0; fi
command -v go >/dev/null || { echo "install.sh: Go is needed to build helm, and there is none" >&2; exit 1; }

sum=$(cat "$here/go.mod" "$here/go.sum" "$here/install.sh" <(go env GOVERSION GOARCH) | sha256sum | cut -c1-12)
cache=${LIFEBOAT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lifeboat}/helm-$sum
mkdir -p "$cache"
exec 9>"$cache/.lock"
flock 9
if [ ! -x "$cache/helm" ]; then
  echo "install.sh: building helm" >&2
  # To another name first: an interrupted build leaves nothing that looks whole.
  (cd "$here" && GOFLAGS=-mod=readonly CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w" \
    -o "$cache/.helm" helm.sh/helm/v4/cmd/helm) >&2
  mv "$cache/.helm" "$cache/helm"
fi
echo "$cache/helm"
