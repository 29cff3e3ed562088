#!/usr/bin/env node
// kubectl runs this for `kubectl lifeboat …`: the same command, which knows by its own name how it was called.
await import("./lifeboat.js");
