/** What a node of the model says about itself. It has no heartbeat: a model at rest writes nothing. */
import type { Instant } from "@lifeboat/base";
import type { Node, NodeStatus } from "../kinds.ts";
import { withCondition } from "./status.ts";

/** A node that the member shall have. */
export interface NodeOptions {
  readonly name: string;
  /** Quantities by resource name: `{ cpu: "8", memory: "32Gi", pods: "110" }`. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Its address; absent: it has none. */
  readonly address?: string;
}

/** The status of a node of this size. Pure. */
export function decideNode(node: Node, options: NodeOptions, now: Instant): NodeStatus {
  const ready = {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    message: "kubelet is posting ready status",
  } as const;
  return {
    ...node.status,
    capacity: options.capacity,
    allocatable: options.capacity,
    conditions: withCondition(node.status?.conditions, ready, now),
    ...(options.address !== undefined && {
      addresses: [{ type: "InternalIP", address: options.address }],
    }),
  };
}
