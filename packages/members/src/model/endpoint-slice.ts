/** The one EndpointSlice of a Service: where its pods are, and which of them serve. */
import type { New } from "@lifeboat/api";
import type { EndpointSlice, LoadBalanced, Pod, ServicePort, SliceEndpoint } from "../kinds.ts";
import { isFinished, isLeaving, isReady, nodeOf } from "./pods.ts";

const MAX_ENDPOINTS = 1000;

/** Whether a Service selects a pod. */
export function selectsPod({ metadata, spec }: LoadBalanced, pod: Pod): boolean {
  const selector = Object.entries(spec.selector ?? {});
  const { namespace, labels = {} } = pod.metadata;
  return (
    selector.length > 0 &&
    namespace === metadata.namespace &&
    selector.every(([key, value]) => labels[key] === value)
  );
}

/** The slice that a Service shall have, of the pods that it selects; undefined: it needs none. Pure. */
export function decideSlice(
  service: LoadBalanced,
  pods: readonly Pod[],
): New<EndpointSlice> | undefined {
  const { metadata, spec } = service;
  if (spec.type === "ExternalName" || Object.keys(spec.selector ?? {}).length === 0)
    return undefined;
  const { name, namespace = "", uid, labels = {} } = metadata;
  const selected = pods.filter((pod) => !isFinished(pod) && pod.status?.podIP !== undefined);
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `${name}-pods`,
      namespace,
      labels: {
        // As the real controller does it.
        ...labels,
        "kubernetes.io/service-name": name,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name, uid, controller: true }],
    },
    addressType: "IPv4",
    ports: (spec.ports ?? []).map((port) => ({
      name: port.name ?? "",
      protocol: port.protocol ?? "TCP",
      port: targetOf(port, selected[0]),
    })),
    endpoints: selected
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .slice(0, MAX_ENDPOINTS)
      .map(endpointOf),
  };
}

function endpointOf(pod: Pod): SliceEndpoint {
  const serving = isReady(pod);
  const terminating = isLeaving(pod);
  const nodeName = nodeOf(pod);
  return {
    addresses: [pod.status?.podIP ?? ""],
    conditions: { ready: serving && !terminating, serving, terminating },
    ...(nodeName !== "" && { nodeName }),
  };
}

function targetOf({ port, targetPort = port }: ServicePort, pod: Pod | undefined): number {
  if (typeof targetPort === "number") return targetPort === 0 ? port : targetPort;
  const all = (pod?.spec.containers ?? []).flatMap(({ ports = [] }) => ports);
  return all.find(({ name }) => name === targetPort)?.containerPort ?? port;
}
