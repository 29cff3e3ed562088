/** What a Service of type LoadBalancer gets: an address of its own, from a range of 65,536. */
import { hashText } from "@lifeboat/base";
import type { LoadBalanced, ServiceStatus } from "../kinds.ts";

const ADDRESSES = 65_536;

/**
 * The status of a Service; `prefix` is the first half of the addresses (`198.18`), `taken` are those of others. Pure.
 * An address stays as long as the type and the prefix do. When all are taken, the Service waits without one.
 */
export function decideService(
  service: LoadBalanced,
  taken: ReadonlySet<string>,
  prefix: string,
): ServiceStatus {
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  const wanted =
    prefix !== "" &&
    service.spec.type === "LoadBalancer" &&
    service.metadata.deletionTimestamp === undefined;
  if (!wanted) return { ...service.status, loadBalancer: {} };
  if (ingress.some(({ ip = "" }) => ip.startsWith(`${prefix}.`))) return service.status ?? {};
  const ip = freeAddress(service.metadata.uid, taken, prefix);
  if (ip === undefined) return service.status ?? {};
  return { ...service.status, loadBalancer: { ingress: [{ ip, ipMode: "VIP" }] } };
}

function freeAddress(uid: string, taken: ReadonlySet<string>, prefix: string): string | undefined {
  const first = hashText(uid) % ADDRESSES;
  for (let i = 0; i < ADDRESSES; i++) {
    const number = (first + i) % ADDRESSES;
    const ip = `${prefix}.${number >> 8}.${number & 255}`;
    if (!taken.has(ip)) return ip;
  }
  return undefined;
}
