/** `npm run verify`: everything a change must pass before it is shared, in the order that fails fastest. */
import { spawnSync } from "node:child_process";

const steps = [
  ["format", ["npm", "run", "--silent", "format:check"]],
  ["lint", ["npm", "run", "--silent", "lint"]],
  ["types", ["npm", "run", "--silent", "types"]],
  ["tests", ["npm", "test", "--silent"]],
  ["dead code", ["npm", "run", "--silent", "dead"]],
];

const rows = [];
for (const [name, [command, ...args]] of steps) {
  const started = performance.now();
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  rows.push(
    `${name.padEnd(10)} ${status === 0 ? "ok    " : "FAILED"} ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  if (status !== 0) {
    console.error(`\n${rows.join("\n")}`);
    process.exit(1);
  }
}
console.log(`\n${rows.join("\n")}`);
