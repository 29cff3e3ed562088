//go:build tools

// Package tools pins the command that install.sh builds.
package tools

import _ "go.etcd.io/etcd/etcdctl/v3"
