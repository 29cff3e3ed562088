#!/usr/bin/env bash
# Prints the directory that holds the real Kubernetes binaries named on the command line (default: etcd
# kube-apiserver kubectl), building from Go modules those that are missing.
#
#   KUBEBUILDER_ASSETS   when set and complete, it is used as it is and nothing is built.
#   LIFEBOAT_CACHE       where builds are kept (default: $XDG_CACHE_HOME/lifeboat or ~/.cache/lifeboat).
#
# The directory is named by the checksum of everything that decides a build (the go.mod and go.sum files
# here, this script, the Go version), so a changed version never meets an old binary.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=1.36.4
wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(etcd kube-apiserver kubectl)

complete() { local name; for name in "${wanted[@]}"; do [ -x "$1/$name" ] || return 1; done; }

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
  complete "$KUBEBUILDER_ASSETS" && { echo "$KUBEBUILDER_ASSETS"; exit 0; }
  echo "install.sh: KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS lacks one of: ${wanted[*]}" >&2
fi
command -v go >/dev/null || { echo "install.sh: Go is needed to build ${wanted[*]}, and there is none" >&2; exit 1; }

sum=$(cat "$here"/*/go.mod "$here"/*/go.sum "$here/install.sh" <(go env GOVERSION GOARCH) | sha256sum | cut -c1-12)
cache=${LIFEBOAT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lifeboat}/kubernetes-$version-$sum
mkdir -p "$cache"
exec 9>"$cache/.lock"
flock 9

# Builds one package to a temporary name first, so that an interrupted build leaves nothing that looks whole.
build() {
  local name=$1 module=$2 package=$3
  [ -x "$cache/$name" ] && return 0
  echo "install.sh: building $name" >&2
  (cd "$here/$module" && GOFLAGS=-mod=readonly CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$version -X k8s.io/component-base/version.gitMajor=${version%%.*} -X k8s.io/component-base/version.gitMinor=$(echo $version | cut -d. -f2)" \
    -o "$cache/.$name" "$package") >&2
  mv "$cache/.$name" "$cache/$name"
}

for name in "${wanted[@]}"; do
  case $name in
    etcd) build etcd etcd go.etcd.io/etcd/server/v3 ;;
    kube-apiserver | kube-controller-manager | kubectl) build "$name" kubernetes "k8s.io/kubernetes/cmd/$name" ;;
    *) echo "install.sh: no recipe for $name" >&2; exit 1 ;;
  esac
done
echo "$cache"
