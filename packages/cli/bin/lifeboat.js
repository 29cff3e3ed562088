#!/usr/bin/env node
// A committed file, because npm links commands before anything is built.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// An agent runs in every member: it has a program of its own, which loads no API server.
const program = process.argv[2] === "agent" ? "agent/main.js" : "main.js";
const built = new URL(`../dist/${program}`, import.meta.url);
if (!existsSync(fileURLToPath(built))) {
  process.stderr.write("lifeboat: not built yet; run `npm run build` in the repository first\n");
  process.exit(1);
}
const { main } = await import(built.href);
await main(process.argv.slice(2));
