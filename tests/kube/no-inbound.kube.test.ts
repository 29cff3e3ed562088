/** A real cluster without inbound connectivity: kube-apiserver, etcd and kube-controller-manager in a network namespace. */
import { fileURLToPath } from "node:url";
import { noInboundSuite } from "../failover/no-inbound.suite.ts";
import { startProcess } from "../support/processes.ts";

const child = fileURLToPath(new URL("isolated-member-child.ts", import.meta.url));

noInboundSuite("a real cluster", async (started, { under }) => {
  const flags = ["--conditions=@lifeboat/source", "--import", "tsx"];
  const [program = "", ...args] = [...under, process.execPath, ...flags, child];
  const cluster = started.keep(startProcess(program, args));
  const [, kubeconfig = ""] = await cluster.printed(/^kubeconfig (.+)$/m);
  return { kubeconfig };
});
