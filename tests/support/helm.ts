/** The real helm, with a home of its own. Tests that need it fail loudly where it cannot be had. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "./processes.ts";

const installer = fileURLToPath(new URL("../../tools/real-helm/install.sh", import.meta.url));

export const chart = fileURLToPath(new URL("../../deploy/helm/lifeboat", import.meta.url));

/** The path of the binary, built on first use (minutes) and cached outside the repository. */
export function helmBinary(): string {
  const stdio = ["ignore", "pipe", "inherit"] as const;
  return execFileSync(installer, { encoding: "utf8", stdio: [...stdio] }).trim();
}

export interface Helm {
  readonly binary: string;
  start(...args: readonly string[]): RunningProcess;
  close(): void;
}

export function createHelm(kubeconfig?: string): Helm {
  const home = temporaryDirectory("helm");
  const binary = helmBinary();
  const environment = {
    HOME: home,
    ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }),
  };
  return {
    binary,
    start: (...args) => startProcess(binary, args, environment),
    close: () => removeDirectory(home),
  };
}
