//go:build tools

// Package tools pins the command that install.sh builds.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
