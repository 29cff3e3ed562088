/** Requests that move, on a control plane in one process. */
import { type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";
import { trafficSuite } from "./traffic.suite.ts";

const UP = ["--members", "3", "--serve-http", "--gateway-listen", "127.0.0.1:0"];

trafficSuite(async () => {
  const directory = temporaryDirectory("traffic");
  const start = async (port?: number): Promise<RunningLifeboat> => {
    const options = { dataDirectory: directory, args: UP };
    const running = await startLifeboat({ ...options, ...(port !== undefined && { port }) });
    await running.process.printed(/^members ready$/m);
    return running;
  };
  let plane = await start();
  return {
    kubeconfig: plane.kubeconfig,
    gatewayKubeconfig: plane.kubeconfig,
    dataDirectory: directory,
    kill: async () => {
      await plane.process.stop("SIGKILL");
    },
    revive: async () => {
      plane = await start(plane.port);
    },
    stop: async () => {
      await plane.stop();
      removeDirectory(directory);
    },
  };
}, 20_000);
