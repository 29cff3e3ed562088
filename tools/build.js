/**
 * `npm run build`. The first build takes a while, and tsc is silent: say so on standard error, where nothing waits for `ready`.
 * Later builds redo only what changed and stay silent.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const isFirst = !existsSync(new URL("../packages/cli/dist/main.js", import.meta.url));
const started = performance.now();
if (isFirst) process.stderr.write("Building Lifeboat for the first time …\n");
const { status } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-b"], {
  cwd: root,
  stdio: "inherit",
});
if (isFirst && status === 0) {
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  process.stderr.write(`Built in ${seconds} s.\n`);
}
process.exitCode = status ?? 1;
