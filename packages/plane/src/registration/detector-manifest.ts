/**
 * What a detector needs in its member: a namespace, the kubeconfig of the control plane as a Secret, an account that may change this
 * Secret, and a DaemonSet. Made of its inputs alone, so that applying it twice changes nothing.
 *
 * In the member it may do one thing: keep its renewed certificate in that Secret, from which the kubelets give it to all instances. What
 * it reports it reports to the control plane, without the member's API server. The detectors of one cluster share Secret and account.
 */
import type { AnyObject, New } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { restrictedContainer } from "./restricted-container.ts";

export interface DetectorManifest {
  readonly cluster: string;
  readonly image: string;
  /** In the member. */
  readonly namespace: string;
  /** Of the control plane, with the detector's certificate. */
  readonly kubeconfig: string;
  /**
   * Where the control plane is reached that the kubeconfig names by a host name, while the member resolves no names; absent: by its
   * name servers alone. The detection reads resolv.conf, which these do not touch.
   */
  readonly server?: { readonly host: string; readonly addresses: readonly string[] };
  /** The type of the condition that it reports. */
  readonly condition: string;
  /** The flags of `lifeboat detector` that name the probe; none: name resolution. */
  readonly probeFlags: readonly string[];
}

const RBAC = "rbac.authorization.k8s.io";
const NAME = "lifeboat-detector";
const SECRET = "lifeboat-detector-kubeconfig";
const HEALTH_PORT = 8082;

/**
 * The name of the DaemonSet that reports a condition: each has one of its own, so that the detectors of a cluster can be installed and
 * removed one by one. Different conditions give different names (`detector.lifeboat.dev/IngressReady`: `lifeboat-detector-ingress-ready`).
 */
export function detectorName(condition: string): string {
  if (condition === wellKnown.NAME_RESOLUTION) return NAME;
  const name = condition.slice(wellKnown.DETECTOR_CONDITION_PREFIX.length);
  return NAME + name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The objects in the order in which they can be made. */
export function detectorManifest(detector: DetectorManifest): readonly New<AnyObject>[] {
  const { cluster, namespace } = detector;
  const name = detectorName(detector.condition);
  const labels = { [wellKnown.SYSTEM]: "true", app: name };
  const shared = { name: NAME, namespace, labels: { ...labels, app: NAME } };
  return [
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace, labels: { [wellKnown.SYSTEM]: "true" } },
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { ...shared, name: SECRET },
      type: "Opaque",
      stringData: { kubeconfig: detector.kubeconfig },
    },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: shared },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "Role",
      metadata: shared,
      rules: [
        { apiGroups: [""], resources: ["secrets"], resourceNames: [SECRET], verbs: ["patch"] },
      ],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata: shared,
      roleRef: { apiGroup: RBAC, kind: "Role", name: NAME },
      subjects: [{ kind: "ServiceAccount", name: NAME, namespace }],
    },
    {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: {
        name,
        namespace,
        labels,
        annotations: { "lifeboat.dev/cluster": cluster },
      },
      spec: {
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: podOf(detector) },
      },
    },
  ];
}

function podOf({ cluster, image, namespace, probeFlags, server }: DetectorManifest): object {
  const hostAliases = server?.addresses.map((ip) => ({ ip, hostnames: [server.host] }));
  return {
    serviceAccountName: NAME,
    priorityClassName: "system-node-critical",
    // As the pods whose traffic it decides about.
    dnsPolicy: "ClusterFirst",
    ...(hostAliases !== undefined && { hostAliases }),
    tolerations: [{ operator: "Exists" }],
    containers: [
      {
        name: "detector",
        image,
        args: [
          "detector",
          `--cluster-name=${cluster}`,
          "--karmada-kubeconfig=/etc/lifeboat/kubeconfig",
          `--kubeconfig-secret=${namespace}/${SECRET}`,
          "--host-name=$(NODE_NAME)",
          `--health-listen=0.0.0.0:${HEALTH_PORT}`,
          ...probeFlags,
        ],
        env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
        livenessProbe: { httpGet: { path: "/healthz", port: HEALTH_PORT }, periodSeconds: 10 },
        readinessProbe: { httpGet: { path: "/readyz", port: HEALTH_PORT }, periodSeconds: 10 },
        resources: { requests: { cpu: "10m", memory: "96Mi" } },
        ...restrictedContainer,
      },
    ],
    volumes: [{ name: "kubeconfig", secret: { secretName: SECRET } }],
  };
}
