/** Simulated members in a process of their own, joined to a control plane that a kubeconfig leads to: it may die, they do not. */
import { join } from "node:path";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";
import type { Started } from "../support/started.ts";

/** Starts `lifeboat members`, which join the control plane that is named; answers the kubeconfigs of the members once they serve. */
export async function startSimulatedMembers(
  started: Started,
  planeKubeconfig: string | undefined,
  names: readonly string[],
  flags: readonly string[] = [],
): Promise<readonly string[]> {
  const directory = temporaryDirectory("members");
  started.keep({ stop: () => Promise.resolve(removeDirectory(directory)) });
  const members = startProcess(lifeboatCommand, [
    "members",
    `--members=${names.length}`,
    `--data-dir=${directory}`,
    `--kubeconfig=${planeKubeconfig ?? join(directory, "none.kubeconfig")}`,
    ...flags,
  ]);
  started.keep({ stop: () => members.stop("SIGKILL") });
  await members.printed(/^\d+ members serve$/m);
  return names.map((name) => join(directory, `${name}.kubeconfig`));
}
