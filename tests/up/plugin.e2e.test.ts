/** The command as a plugin of real `kubectl`: found on the PATH by its name, with the words and the exit code of the command itself. */
import { symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKubectl, type Kubectl } from "../support/kubectl.ts";
import {
  lifeboatCommand,
  ONLY_API,
  type RunningLifeboat,
  startLifeboat,
} from "../support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";

let plane: RunningLifeboat;
let kubectl: Kubectl;
const directory = temporaryDirectory("plugin");

beforeAll(async () => {
  const program = join(dirname(lifeboatCommand), "kubectl-lifeboat.js");
  symlinkSync(program, join(directory, "kubectl-lifeboat"));
  plane = await startLifeboat({ args: ONLY_API });
  kubectl = createKubectl(plane);
});
afterAll(async () => {
  kubectl.close();
  await plane.stop();
  removeDirectory(directory);
});

/** kubectl hands no flags of its own to a plugin: it reads KUBECONFIG itself. */
function plugin(...args: readonly string[]) {
  const environment = {
    PATH: `${directory}:${process.env["PATH"] ?? ""}`,
    KUBECONFIG: plane.kubeconfig,
  };
  return kubectl.plugin(["lifeboat", ...args], environment);
}

it("shows what the command shows", async () => {
  const shown = await plugin("status");
  expect(shown, shown.stderr).toMatchObject({ code: 0 });
  expect(shown.stdout).toMatch(/^UNKNOWN: no controllers have run on this control plane$/m);
  expect(shown.stdout).toContain("No clusters are joined");
  expect((await plugin("status", "--help")).stdout).toContain("Usage: kubectl lifeboat status");
});

it("ends with its exit code and its sentence", async () => {
  expect(await plugin("fence", "nobody", "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no cluster "nobody"') as string,
  });
  expect(await plugin("evacuations", "resume")).toMatchObject({ code: 2 });
});
