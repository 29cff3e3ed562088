/** A real kube-controller-manager beside a real kube-apiserver: namespaces end, and accounts get tokens. */
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApiEndpoint } from "../support/api-endpoint.ts";
import { freePort, type RunningProcess, startProcess } from "../support/processes.ts";

const installer = fileURLToPath(new URL("../../tools/real-kubernetes/install.sh", import.meta.url));

/** Starts it with the keys that the API server was started with. */
export async function startControllerManager(server: ApiEndpoint): Promise<RunningProcess> {
  const directory = execFileSync(installer, ["kube-controller-manager"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
  const keys = dirname(server.kubeconfig);
  return startProcess(join(directory, "kube-controller-manager"), [
    `--kubeconfig=${server.kubeconfig}`,
    `--service-account-private-key-file=${join(keys, "server.key")}`,
    `--root-ca-file=${join(keys, "ca.crt")}`,
    `--cert-dir=${keys}`,
    `--secure-port=${await freePort()}`,
    "--bind-address=127.0.0.1",
    "--leader-elect=false",
    "--controllers=serviceaccount-token-controller,serviceaccount-controller,namespace-controller,garbage-collector-controller",
  ]);
}
