#!/usr/bin/env node
// A committed file, because npm links commands before anything is built.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const built = new URL("../dist/main.js", import.meta.url);
if (!existsSync(fileURLToPath(built))) {
  process.stderr.write("lifeboat: not built yet; run `npm run build` in the repository first\n");
  process.exit(1);
}
const { main } = await import(built.href);
await main(process.argv.slice(2));
