/** Real `kubectl`, with a cache directory of its own so that runs do not see each other's discovery. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { ApiEndpoint } from "./api-endpoint.ts";
import { kubernetesBinary } from "./kubernetes-binaries.ts";
import { removeDirectory, temporaryDirectory } from "./processes.ts";

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Kubectl {
  run(
    args: readonly string[],
    input?: string,
    environment?: Readonly<Record<string, string>>,
  ): Promise<KubectlResult>;
  /** Runs a plugin: its name comes first, and it finds the control plane by the environment. */
  plugin(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<KubectlResult>;
  close(): void;
}

export function createKubectl(endpoint: ApiEndpoint): Kubectl {
  const home = temporaryDirectory("kubectl");
  const own = ["--kubeconfig", endpoint.kubeconfig, "--cache-dir", join(home, "cache")];
  return {
    close: () => removeDirectory(home),
    run: (args, input, environment) => runKubectl([...own, ...args], home, input, environment),
    plugin: (args, environment) => runKubectl(args, home, "", environment),
  };
}

function runKubectl(
  args: readonly string[],
  home: string,
  input = "",
  environment: Readonly<Record<string, string>> = {},
): Promise<KubectlResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(kubernetesBinary("kubectl"), args, {
      env: { PATH: process.env["PATH"], HOME: home, ...environment },
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? -1, stdout, stderr }));
    child.stdin.end(input);
  });
}
