/**
 * What an agent needs in its member: a namespace, an account with its rights, the kubeconfig of the control plane as a Secret, and
 * a Deployment. Made of its inputs alone, so that applying it twice changes nothing.
 *
 * Two replicas and leader election: a node that dies takes no agent with it. The pods are critical and tolerate everything,
 * because a member without its agent is a failed one.
 */
import type { AnyObject, New } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { restrictedContainer } from "./restricted-container.ts";

export interface AgentManifest {
  readonly cluster: string;
  readonly image: string;
  /** In the member. */
  readonly namespace: string;
  /** Of the control plane, with the agent's certificate. */
  readonly kubeconfig: string;
  readonly replicas: number;
}

export const AGENT_NAMESPACE = "karmada-system";
export const AGENT_NAME = "lifeboat-agent";
/** Flags of Node for an agent: with a small young generation it takes a quarter less memory while many Works come at once. */
export const AGENT_NODE_FLAGS: readonly string[] = ["--max-semi-space-size=4"];
export const AGENT_SECRET = "lifeboat-agent-kubeconfig";

/** The objects in the order in which they can be made. */
export function agentManifest(agent: AgentManifest): readonly New<AnyObject>[] {
  const { cluster, namespace } = agent;
  const labels = { [wellKnown.SYSTEM]: "true", app: AGENT_NAME };
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { name: AGENT_NAME, namespace, labels };
  const subjects = [{ kind: "ServiceAccount", name: AGENT_NAME, namespace }];
  const objects = [
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace, labels: { [wellKnown.SYSTEM]: "true" } },
    },
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: { name: AGENT_NAME, labels },
      rules: [
        { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
        { nonResourceURLs: ["*"], verbs: ["get"] },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: AGENT_NAME, labels },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: AGENT_NAME },
      subjects,
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: AGENT_SECRET, namespace, labels },
      type: "Opaque",
      stringData: { kubeconfig: agent.kubeconfig },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { ...metadata, annotations: { "lifeboat.dev/cluster": cluster } },
      spec: {
        replicas: agent.replicas,
        selector: { matchLabels: { app: AGENT_NAME } },
        template: { metadata: { labels: { app: AGENT_NAME } }, spec: podOf(agent) },
      },
    },
  ];
  return objects;
}

const HEALTH_PORT = 8081;

function podOf({ cluster, image, namespace }: AgentManifest): object {
  return {
    serviceAccountName: AGENT_NAME,
    priorityClassName: "system-cluster-critical",
    tolerations: [{ operator: "Exists" }],
    containers: [
      {
        name: "agent",
        image,
        args: [
          "agent",
          `--cluster-name=${cluster}`,
          "--plane-kubeconfig=/etc/lifeboat/kubeconfig",
          `--agent-namespace=${namespace}`,
          `--health-listen=0.0.0.0:${HEALTH_PORT}`,
        ],
        env: [{ name: "NODE_OPTIONS", value: AGENT_NODE_FLAGS.join(" ") }],
        livenessProbe: { httpGet: { path: "/healthz", port: HEALTH_PORT }, periodSeconds: 10 },
        resources: { requests: { cpu: "20m", memory: "128Mi" } },
        ...restrictedContainer,
      },
    ],
    volumes: [{ name: "kubeconfig", secret: { secretName: AGENT_SECRET } }],
  };
}
