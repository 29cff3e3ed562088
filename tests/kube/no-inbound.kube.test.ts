/** A real cluster without inbound connectivity: kube-apiserver, etcd and kube-controller-manager in a network namespace. */
import { fileURLToPath } from "node:url";
import { noInboundSuite, start } from "../failover/no-inbound.suite.ts";

const child = fileURLToPath(new URL("isolated-member-child.ts", import.meta.url));

noInboundSuite("a real cluster", async (started, place) => {
  const flags = ["--conditions=@lifeboat/source", "--import", "tsx"];
  const cluster = started.keep(start(place, process.execPath, ...flags, child));
  const [, kubeconfig = ""] = await cluster.printed(/^kubeconfig (.+)$/m);
  return { kubeconfig };
});
