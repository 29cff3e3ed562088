/**
 * A real cluster, with the processes it is made of, as `node isolated-member-child.ts`: in whatever network namespace it was
 * started. Prints `kubeconfig FILE` when it can be registered; SIGTERM ends all of it.
 */
import { once } from "node:events";
import { startEtcd } from "../support/real-api-server.ts";
import { startAll } from "../support/started.ts";
import { startRealCluster } from "./real-fleet.ts";

const told = once(process, "SIGTERM");
await startAll(async (started) => {
  const etcd = started.keep(await startEtcd());
  const { kubeconfig } = await startRealCluster(started, etcd, "isolated");
  process.stdout.write(`kubeconfig ${kubeconfig}\n`);
  await told;
  await started.stop();
});
process.exit(0);
