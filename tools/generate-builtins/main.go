// Command generate-builtins writes what the API server has to know about Kubernetes' built-in kinds.
//
//	go run .                    describes the Go types: packages/api/src/generated/builtin-types.ts
//	go run . samples            writes what Go makes of bodies and objects: packages/api/src/builtin/fixtures/
//	go run . samples FILE       the same for every kind, many times, for checking by hand
//	go run . resources FILE...  reads recorded discovery documents: packages/api/src/generated/builtin-resources.ts
//
// See README.md.
package main

import (
	"fmt"
	"os"
)

const (
	typesFile     = "../../packages/api/src/generated/builtin-types.ts"
	resourcesFile = "../../packages/api/src/generated/builtin-resources.ts"
	samplesDir    = "../../packages/api/src/builtin/fixtures"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate-builtins:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 0:
		return writeTypes(typesFile)
	case args[0] == "samples" && len(args) == 1:
		return writeSamples(samplesDir)
	case args[0] == "samples" && len(args) == 2:
		return writeManySamples(args[1])
	case args[0] == "resources" && len(args) > 1:
		return writeResources(args[1:], resourcesFile)
	}
	return fmt.Errorf("usage: go run . [samples [FILE] | resources FILE...]")
}
