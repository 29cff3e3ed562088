/** What a member is like: its size, and how long things take in it. */
import type { NodeOptions } from "./model/node.ts";

export interface MemberOptions {
  /** The nodes to make; with none, pods run on the nodes that others make. */
  readonly nodes: readonly NodeOptions[];
  /** From the choice of a node until the pod is ready. */
  readonly startDelayMs: number;
  /** Up to so much more, by chance, per pod. */
  readonly startJitterMs: number;
  /** From the deletion of a pod until it is gone; its grace may be shorter. */
  readonly stopDelayMs: number;
  /** How long a pod runs that is meant to end, such as a Job's. */
  readonly runMs: number;
  /** The first two parts of load-balancer addresses: `198.18`; "": there are no load balancers. */
  readonly addressPrefix: string;
  /** Whether Services have EndpointSlices. Nothing listens at the addresses in them. */
  readonly endpointSlices: boolean;
}

/** One node with room for a hundred pods or so, and short delays. */
export const MEMBER_DEFAULTS: MemberOptions = Object.freeze({
  nodes: Object.freeze([
    Object.freeze({
      name: "node-1",
      capacity: Object.freeze({ cpu: "32", memory: "128Gi", pods: "250" }),
    }),
  ]),
  startDelayMs: 1000,
  startJitterMs: 0,
  stopDelayMs: 500,
  runMs: 2000,
  addressPrefix: "198.18",
  endpointSlices: false,
});
