/** The federation's names as the objects of a control plane make them, for commands. */
import {
  clusters,
  formatKey,
  keyOf,
  type KubeObject,
  resourceBindings,
  services,
  statefulSets,
} from "@lifeboat/api";
import { type GlobalSet, readGlobalSets, type ZoneSettings } from "@lifeboat/core/names";
import { readServers } from "@lifeboat/dns";
import type { Client } from "@lifeboat/kit";
import type { Settings } from "../settings.ts";
import { zoneFromFlags } from "./dns-options.ts";

export async function readSets(plane: Client): Promise<readonly GlobalSet[]> {
  const sets = (await plane.list(statefulSets)).items;
  const byName = <T extends KubeObject>(items: readonly T[]): ReadonlyMap<string, T> =>
    new Map(items.map((item) => [formatKey(keyOf(item)), item]));
  const found = byName((await plane.list(services)).items);
  const fleet = byName((await plane.list(clusters)).items);
  const bindings = new Map(
    (await plane.list(resourceBindings)).items.map((binding) => {
      const { kind, namespace = "", name } = binding.spec.resource;
      return [`${kind} ${formatKey({ namespace, name })}`, binding];
    }),
  );
  return readGlobalSets({
    statefulSets: sets,
    service: (namespace, name) => found.get(formatKey({ namespace, name })),
    binding: (kind, namespace, name) => bindings.get(`${kind} ${formatKey({ namespace, name })}`),
    cluster: (name) => fleet.get(formatKey({ namespace: "", name })),
  });
}

/** Flags first, then what a server of this control plane reported, then the defaults. */
export async function readZone(
  plane: Client,
  settings: Settings,
): Promise<ZoneSettings & { readonly ttl: number }> {
  const given = zoneFromFlags(settings);
  const [server] = await readServers(plane);
  const ttl = server?.state.ttl ?? DEFAULT_TTL;
  const isGiven = ["dns-zone", "federation-name"].some((name) => settings.isOnCommandLine(name));
  if (server === undefined || isGiven) return { ...given, ttl };
  return { zone: server.state.zone, federation: server.state.federation, ttl };
}

const DEFAULT_TTL = 5;
