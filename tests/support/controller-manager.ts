/** A real kube-controller-manager beside a real kube-apiserver: namespaces end, and accounts get tokens. */
import { dirname, join } from "node:path";
import type { ApiEndpoint } from "./api-endpoint.ts";
import { kubernetesBinary } from "./kubernetes-binaries.ts";
import { freePort, type RunningProcess, startProcess } from "./processes.ts";

/** What every cluster needs; on a control plane nothing more may run, because templates must not make pods. */
const HOUSEKEEPING: readonly string[] = [
  "serviceaccount-token-controller",
  "serviceaccount-controller",
  "namespace-controller",
  "garbage-collector-controller",
];

/** What makes pods of workloads and reports about them. */
export const WORKLOAD_CONTROLLERS: readonly string[] = [
  "deployment-controller",
  "replicaset-controller",
  "statefulset-controller",
  "daemonset-controller",
  "job-controller",
  "cronjob-controller",
];

/** Signs approved certificate requests of clients, by the authority of the API server, and clears them away. */
export function signing(server: ApiEndpoint, duration: string): SigningFlags {
  const keys = dirname(server.kubeconfig);
  return {
    controllers: [
      "certificatesigningrequest-signing-controller",
      "certificatesigningrequest-cleaner-controller",
    ],
    flags: [
      `--cluster-signing-cert-file=${join(keys, "ca.crt")}`,
      `--cluster-signing-key-file=${join(keys, "ca.key")}`,
      `--cluster-signing-duration=${duration}`,
    ],
  };
}

export interface SigningFlags {
  readonly controllers: readonly string[];
  readonly flags: readonly string[];
}

/** Starts it with the keys that the API server was started with. */
export async function startControllerManager(
  server: ApiEndpoint,
  more: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<RunningProcess> {
  const keys = dirname(server.kubeconfig);
  return startProcess(kubernetesBinary("kube-controller-manager"), [
    `--kubeconfig=${server.kubeconfig}`,
    `--service-account-private-key-file=${join(keys, "server.key")}`,
    `--root-ca-file=${join(keys, "ca.crt")}`,
    `--cert-dir=${keys}`,
    `--secure-port=${await freePort()}`,
    "--bind-address=127.0.0.1",
    "--leader-elect=false",
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
    `--controllers=${[...HOUSEKEEPING, ...more].join(",")}`,
    ...flags,
  ]);
}
