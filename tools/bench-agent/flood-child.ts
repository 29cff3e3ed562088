/** Agents that flood the control plane, each with as many requests at once as it can, of every kind that its rights allow. */
import { agentIdentity, AGENTS_GROUP, agentUser } from "@lifeboat/core/clusters/rights";
import { makeCertificateRequest } from "@lifeboat/kit/adapters";
import { connectRaw, type RawClient } from "../../tests/support/raw-client.ts";
import type { ClusterAccess, FromChild, ToChild } from "./messages.ts";

/** Of each agent: more than fit through all in-flight limits together. */
const AT_ONCE = 32;
const FILLER = "x".repeat(900);
const stop = new AbortController();
const answers = new Map<string, number>();

process.on("message", (message: ToChild) => {
  if (message.kind === "start") void start(message.clusters);
  else if (message.kind === "stop") {
    stop.abort();
    send({ kind: "flood", answers: Object.fromEntries(answers) });
    setTimeout(() => process.exit(0), 1000);
  }
});

function send(message: FromChild): void {
  process.send?.(message);
}

async function start(clusters: readonly ClusterAccess[]): Promise<void> {
  for (const { name, kubeconfig } of clusters) {
    const client = await connectRaw(kubeconfig, { sockets: AT_ONCE });
    await client.ask("POST", "/apis/cluster.karmada.io/v1alpha1/clusters", {
      body: {
        apiVersion: "cluster.karmada.io/v1alpha1",
        kind: "Cluster",
        metadata: { name },
        spec: { syncMode: "Pull" },
      },
    });
    const kinds = requestsOf(name);
    for (let i = 0; i < AT_ONCE; i += 1) void flood(client, kinds, i);
  }
  send({ kind: "ready" });
}

type Send = (client: RawClient, n: number) => Promise<{ readonly code: number }>;

async function flood(client: RawClient, kinds: readonly Send[], from: number): Promise<void> {
  for (let n = from; !stop.signal.aborted; n += 1) {
    const kind = kinds[n % kinds.length];
    const code = await kind?.(client, n).then(
      (answer) => String(answer.code),
      () => "no answer",
    );
    answers.set(code ?? "", (answers.get(code ?? "") ?? 0) + 1);
  }
}

const MERGE = { "content-type": "application/merge-patch+json" };

function requestsOf(cluster: string): readonly Send[] {
  const own = `/apis/cluster.karmada.io/v1alpha1/clusters/${cluster}`;
  const lease = "/apis/coordination.k8s.io/v1/namespaces/karmada-cluster/leases";
  const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const works = `/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-${cluster}/works`;
  const { request } = makeCertificateRequest({
    commonName: agentUser(cluster),
    organizations: [AGENTS_GROUP],
  });
  const status: Send = (client, n) =>
    client.ask("PATCH", `${own}/status`, {
      headers: MERGE,
      body: { status: { kubernetesVersion: `v1.${n}` } },
    });
  const event: Send = (client, n) =>
    client.ask("POST", "/api/v1/namespaces/default/events", {
      body: {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: `${cluster}-${n}-${performance.now()}` },
        involvedObject: { kind: "Cluster", name: cluster },
        message: FILLER,
      },
    });
  const renewal: Send = (client, n) =>
    client.ask(n % 2 === 0 ? "PATCH" : "POST", n % 2 === 0 ? `${lease}/${cluster}` : lease, {
      ...(n % 2 === 0 && { headers: MERGE }),
      body: {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: cluster },
        spec: { holderIdentity: cluster, leaseDurationSeconds: (n % 100) + 1 },
      },
    });
  const certificate: Send = async (client) => {
    await client.ask("DELETE", `${requests}/${agentIdentity(cluster).requestName}`);
    return client.ask("POST", requests, {
      body: {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name: agentIdentity(cluster).requestName },
        spec: {
          request: btoa(request),
          signerName: "kubernetes.io/kube-apiserver-client",
          usages: ["digital signature", "key encipherment", "client auth"],
        },
      },
    });
  };
  const read: Send = (client) => client.ask("GET", works);
  return [status, event, renewal, event, certificate, read, status];
}
