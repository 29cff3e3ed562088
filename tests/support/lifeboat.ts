/** The built `lifeboat` command as a child process. */
import { fileURLToPath } from "node:url";
import type { ApiEndpoint } from "./api-endpoint.ts";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "./processes.ts";

export const lifeboatCommand = fileURLToPath(
  new URL("../../packages/cli/bin/lifeboat.js", import.meta.url),
);

/** The arguments of a control plane that serves its API and does nothing by itself. */
export const ONLY_API: readonly string[] = ["--controllers=-*"];

export interface RunningLifeboat extends ApiEndpoint {
  readonly process: RunningProcess;
  readonly dataDirectory: string;
  readonly port: number;
}

/** Starts `lifeboat up` on a free port and waits for its `ready`. A given directory is kept on stop. */
export async function startLifeboat(
  options: {
    readonly dataDirectory?: string;
    readonly port?: number;
    readonly args?: readonly string[];
    /** A program and its arguments that runs the command given after them, as the process it was started as. */
    readonly under?: readonly string[];
  } = {},
): Promise<RunningLifeboat> {
  const dataDirectory = options.dataDirectory ?? temporaryDirectory("up");
  const listen = `127.0.0.1:${options.port ?? 0}`;
  const [command = "", ...args] = [
    ...(options.under ?? []),
    lifeboatCommand,
    "up",
    "--data-dir",
    dataDirectory,
    "--listen",
    listen,
    ...(options.args ?? []),
  ];
  const running = startProcess(command, args);
  await running.printed(/^ready$/m);
  const [, port] = await running.printed(/https:\/\/127\.0\.0\.1:(\d+)/);
  return {
    process: running,
    dataDirectory,
    port: Number(port),
    url: `https://127.0.0.1:${port}`,
    kubeconfig: `${dataDirectory}/lifeboat.kubeconfig`,
    stop: async () => {
      await running.stop();
      if (options.dataDirectory === undefined) removeDirectory(dataDirectory);
    },
  };
}
