#!/usr/bin/env bash
# Prints the path of etcdctl, building it from its Go module when it is missing.
#
#   LIFEBOAT_CACHE   where builds are kept (default: $XDG_CACHE_HOME/lifeboat or ~/.cache/lifeboat).
#
# The directory is named by the checksum of everything that decides the build, so a changed version never meets an old binary.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v go >/dev/null || { echo "install.sh: Go is needed to build etcdctl, and there is none" >&2; exit 1; }

sum=$(cat "$here/go.mod" "$here/go.sum" "$here/install.sh" <(go env GOVERSION GOARCH) | sha256sum | cut -c1-12)
cache=${LIFEBOAT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lifeboat}/etcdctl-$sum
mkdir -p "$cache"
exec 9>"$cache/.lock"
flock 9
if [ ! -x "$cache/etcdctl" ]; then
  echo "install.sh: building etcdctl" >&2
  # To a temporary name first, so that an interrupted build leaves nothing that looks whole.
  (cd "$here" && GOFLAGS=-mod=readonly CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w" \
    -o "$cache/.etcdctl" go.etcd.io/etcd/etcdctl/v3) >&2
  mv "$cache/.etcdctl" "$cache/etcdctl"
fi
echo "$cache/etcdctl"
