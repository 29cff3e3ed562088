//go:build tools

// Package tools pins the command that install.sh builds.
package tools

import _ "github.com/coredns/coredns"
