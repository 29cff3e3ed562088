/**
 * A network for processes that stand for pods: one network namespace for the control plane, one for each pod, and a bridge
 * between them. Pods resolve names at the control plane's address. All addresses are of the shared address space (RFC 6598), in
 * which simulated members give load-balancer addresses; nothing outside of the namespaces is used. It needs root and iproute2.
 */
import { createHash } from "node:crypto";
import { ip, type Place, tried } from "./network-namespaces.ts";

/** Outside of what members give: their addresses begin with 100.64 to 100.114. */
const PLANE = "100.127.0.53";
const BITS = 10;

export interface PodNetwork {
  readonly id: string;
  readonly plane: Place;
  /** A new namespace with an address of its own on the bridge. */
  addPod(name: string): PodPlace;
  stop(): Promise<void>;
}

export interface PodPlace extends Place {
  /** Gives it one more address, as a load balancer does. */
  addAddress(address: string): void;
  remove(): void;
}

/** Makes the control plane's namespace and the bridge. */
export function makePodNetwork(id: string): PodNetwork {
  const name = planeOf(id);
  try {
    ip("netns", "add", name);
    ip("-n", name, "link", "set", "lo", "up");
    ip("-n", name, "link", "add", "pods", "type", "bridge");
    ip("-n", name, "address", "add", `${PLANE}/${BITS}`, "dev", "pods");
    ip("-n", name, "link", "set", "pods", "up");
  } catch (error) {
    tried("netns", "delete", name);
    throw new Error(
      `this test makes network namespaces, which needs root and iproute2: ${String(error)}`,
      { cause: error },
    );
  }
  return {
    ...joinPodNetwork(id),
    stop: () => {
      tried("netns", "delete", name);
      return Promise.resolve();
    },
  };
}

/** The network that another process has made. */
export function joinPodNetwork(id: string): Omit<PodNetwork, "stop"> {
  let count = 0;
  return {
    id,
    plane: { under: ["ip", "netns", "exec", planeOf(id)], address: PLANE },
    addPod: (pod) => addPod(id, pod, ++count),
  };
}

function addPod(id: string, pod: string, number: number): PodPlace {
  const name = `lifeboat-${id}-${pod}`;
  const link = `pod${number}`;
  const address = `100.127.1.${number}`;
  // The same for the same pod: neighbours may still know the address of a former one.
  const mac = createHash("sha256").update(pod).digest("hex").slice(0, 10).match(/../g) ?? [];
  ip("netns", "add", name);
  ip("-n", planeOf(id), "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name);
  ip("-n", planeOf(id), "link", "set", link, "master", "pods", "up");
  ip("-n", name, "link", "set", "lo", "up");
  ip("-n", name, "link", "set", "eth0", "address", ["02", ...mac].join(":"), "up");
  ip("-n", name, "address", "add", `${address}/${BITS}`, "dev", "eth0");
  return {
    under: ["ip", "netns", "exec", name],
    address,
    addAddress: (more) => ip("-n", name, "address", "add", `${more}/${BITS}`, "dev", "eth0"),
    remove: () => tried("netns", "delete", name),
  };
}

function planeOf(id: string): string {
  return `lifeboat-${id}-plane`;
}
