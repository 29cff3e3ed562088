/** `.ci/weekly` with stand-ins for what it runs: every part runs whatever failed before it, and its end names those that failed. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

const weekly = fileURLToPath(new URL("../.ci/weekly", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "weekly-"));
afterAll(() => rmSync(directory, { recursive: true }));

function standIn(path: string, script: string): void {
  const file = join(directory, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** Runs it; what `fails` finds in a command ends with an error. */
function run(fails: string) {
  const log = join(directory, "commands.log");
  writeFileSync(log, "");
  mkdirSync(join(directory, ".ci"), { recursive: true });
  cpSync(weekly, join(directory, ".ci/weekly"));
  const note = `echo "$KUBEBUILDER_ASSETS|$LIFEBOAT_SHARE_MEMBERS|$*" >> "${log}"; case "$*" in ${fails}) exit 3;; esac`;
  for (const program of ["bin/npm", "bin/npx", "tools/node24-smoke.sh"]) standIn(program, note);
  standIn("tools/real-kubernetes/install.sh", "echo /assets");
  const { status, stdout } = spawnSync(join(directory, ".ci/weekly"), {
    encoding: "utf8",
    env: { PATH: `${join(directory, "bin")}:${process.env["PATH"] ?? ""}` },
  });
  const commands = readFileSync(log, "utf8").trim().split("\n");
  return { status, lines: stdout.trim().split("\n"), commands };
}

it("runs every part although some fail, and ends with those", () => {
  const whole = run("nothing");
  expect(whole.status).toBe(0);
  expect(whole.lines.some((line) => line.includes("FAILED"))).toBe(false);
  const broken = run("*seeded-faults*|*tests/kube/replicas*");
  expect(broken.status).toBe(1);
  expect(broken.commands).toEqual(whole.commands);
  expect(broken.lines.slice(-3)).toEqual([
    "FAILED every seeded fault",
    "FAILED the leader of three replicas killed twenty times",
    "FAILED the same while the replicas share out members",
  ]);
  expect(broken.lines.filter((line) => /^::: (ok|FAILED) \(\d+ s\): /.test(line))).toHaveLength(
    broken.lines.filter((line) => /^::: (?!ok|FAILED)/.test(line)).length,
  );
});

it("gives the binaries to the suites on a real kube-apiserver, and an option to its own part only", () => {
  const { commands } = run("nothing");
  const kube = commands.filter((line) => line.includes("--project kube"));
  expect(kube.length).toBeGreaterThan(4);
  expect(kube.filter((line) => !line.startsWith("/assets|"))).toEqual([]);
  expect(commands.filter((line) => line.includes("|1|"))).toHaveLength(2);
});
