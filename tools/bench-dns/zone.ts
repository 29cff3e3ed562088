/** The zone of the benchmark: federated sets as the example has them, until there are so many names. */
import type { GlobalSet } from "@lifeboat/core/names";
import { zoneNames } from "@lifeboat/core/names";
import { zoneFrom } from "@lifeboat/dns";

export const APEX = "myfederation.svc.example.com";
const SETTINGS = { zone: "example.com", federation: "myfederation" };
/** Eleven pods with two names each, two governing names and their ports. */
const NAMES_PER_SET = 26;

function setOf(index: number): GlobalSet {
  const members = Array.from({ length: 11 }, (_none, pod) => ({
    pod: `store${index}-c${(pod % 3) + 1}-${Math.floor(pod / 3)}`,
    cluster: `c${(pod % 3) + 1}`,
    addresses: [`10.${index >> 8}.${index & 255}.${pod + 1}`],
    listed: true,
  }));
  const ports = [{ name: "store", protocol: "TCP", port: 80 }];
  return {
    namespace: "mynamespace",
    set: `store${index}`,
    service: `etcd${index}`,
    ports,
    members,
  };
}

export function benchZone(names: number) {
  const sets = Array.from({ length: Math.ceil(names / NAMES_PER_SET) }, (_none, index) =>
    setOf(index),
  );
  const nameServers = [{ name: `ns.${APEX}`, addresses: ["127.0.0.1"] }];
  const zone = zoneFrom(zoneNames(sets, SETTINGS), { serial: 1, ttl: 5, nameServers });
  return { zone, sets };
}

/** Questions as dnsperf reads them: a quarter services, half addresses of pods, a quarter names that do not exist. */
export function questions(sets: readonly GlobalSet[], count: number): string {
  const lines = Array.from({ length: count }, (_none, n) => {
    // Spread over the zone without any order that a cache could use.
    const { set = "", service = "", members = [] } = sets.at((n * 7919) % sets.length) ?? {};
    const pod = members.at(n % members.length)?.pod ?? "";
    const kinds = [
      `${set}.mynamespace.${APEX} SRV`,
      `${pod}.${service}.mynamespace.${APEX} A`,
      `${pod}.mynamespace.${APEX} A`,
      `nosuch${n}.mynamespace.${APEX} A`,
    ];
    return kinds[n % kinds.length] ?? "";
  });
  return `${lines.join("\n")}\n`;
}
