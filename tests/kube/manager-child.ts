/**
 * The controllers of the control plane as a process beside a real kube-apiserver, as `node manager-child.ts KUBECONFIG
 * PORT`: they hold a client and cannot tell. Admission is served on the port with the keys beside the kubeconfig. Prints
 * `ready` when everything runs.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRandom } from "@lifeboat/base";
import { createRealClock, createRealIds } from "@lifeboat/base/adapters";
import { connectMemberOverHttp } from "@lifeboat/controllers/adapters";
import { createManager, silentMetrics } from "@lifeboat/kit";
import { connectByKubeconfig, createPinoLog } from "@lifeboat/kit/adapters";
import { createControllers, createPlaneContext, DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { serveAdmission } from "./admission-webhook.ts";

const [kubeconfig = "", port = ""] = process.argv.slice(2);
const keys = dirname(kubeconfig);

await serveAdmission(
  { cert: readFileSync(join(keys, "server.crt")), key: readFileSync(join(keys, "server.key")) },
  Number(port),
);

const ports = {
  clock: createRealClock(),
  random: createRandom(process.pid),
  ids: createRealIds(),
  log: createPinoLog({ level: "warn" }),
  metrics: silentMetrics,
};
const client = await connectByKubeconfig({ paths: [kubeconfig] });
const { context, services } = createPlaneContext(
  { ...ports, connect: connectMemberOverHttp("lifeboat/test"), instance: "manager-child" },
  client,
);
const controllers = createControllers(context, {
  ...DEFAULT_CONTROLLERS,
  clusterStatusUpdateFrequencyMs: 2000,
  clusterFailureThresholdMs: 2000,
  clusterSuccessThresholdMs: 2000,
  failover: true,
  statefulFailoverInjection: true,
  resourceEvictionRate: 10,
});
process.stdout.write("ready\n");
await createManager(ports, [...services, ...controllers]).run(new AbortController().signal);
