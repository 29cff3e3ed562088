/** What every play has in common: a copy of a control plane, orders that a person gives it, and its coming to rest. */
import { apiVersionOf, keyOf, type KubeObject, orNothing, type Resource } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import type { ControllersOptions } from "@lifeboat/plane";
import type { Images } from "../images.ts";
import type { Simulation } from "../simulation.ts";
import type { WorldSnapshot } from "../snapshot/read-snapshot.ts";

/** The images were made of the same snapshot by `imagesFromSnapshot`; a play does not change them. */
export interface PlayFrom {
  readonly snapshot: WorldSnapshot;
  readonly images: Images;
}

/** An object as a person writes it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

export interface PlayRequest {
  readonly controllers: Partial<ControllersOptions>;
  /** The longest that is played. */
  readonly limitMs: number;
  /** Written by a person at the beginning, as `kubectl apply` would. */
  readonly apply?: readonly Manifest[];
}

/** Written at all times, also by a fleet at rest. */
export const HEARTBEATS: ReadonlySet<string> = new Set(["coordination.k8s.io/leases", "/events"]);

const STEP_MS = 10_000;

/** Lets a person write the objects, and returns when it is done; throws what refuses one of them. */
export async function applyFirst(
  simulation: Simulation,
  { tables }: WorldSnapshot,
  objects: readonly Manifest[],
): Promise<void> {
  const known = tables.map(({ resource }) => resource);
  for (const object of objects) {
    const resource = resourceOf(known, object);
    simulation.user((plane) => applyOne(plane, resource, object));
  }
  while (!simulation.allOrdersDone) await simulation.advance(100);
  const [refused] = simulation.refusedOrders;
  if (refused !== undefined) throw refused;
}

/** Advances until nothing changes for `restMs`, or to the limit; answers how long that was. */
export async function untilAtRest(
  simulation: Simulation,
  lastChange: () => number,
  { restMs, limitMs }: { readonly restMs: number; readonly limitMs: number },
): Promise<{ readonly playedMs: number; readonly isCutOff: boolean }> {
  const began = simulation.clock.monotonic();
  const played = (): number => simulation.clock.monotonic() - began;
  while (played() < limitMs && played() - lastChange() < restMs)
    await simulation.advance(Math.min(STEP_MS, limitMs - played()));
  return { playedMs: played(), isCutOff: played() - lastChange() < restMs };
}

export class UnknownKind extends Error {}

function resourceOf(known: readonly Resource[], { apiVersion, kind }: Manifest): Resource {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const found = known.find((one) => one.group === group && one.kind === kind);
  if (found === undefined)
    throw new UnknownKind(`the control plane does not serve ${kind} of ${apiVersion}`);
  return { ...found, version: version ?? found.version };
}

/** What the file has replaces what is there; labels and annotations that others set stay. */
async function applyOne(plane: Client, resource: Resource, object: Manifest): Promise<void> {
  const { name, namespace = resource.namespaced ? "default" : "", ...given } = object.metadata;
  const metadata = { ...given, name, ...(namespace === "" ? {} : { namespace }) };
  const wanted = { ...object, apiVersion: apiVersionOf(resource), metadata };
  const found = await orNothing(plane.get(resource, keyOf(wanted as KubeObject)));
  if (found === undefined) {
    await plane.create(resource, wanted);
    return;
  }
  const { labels, annotations } = found.metadata;
  await plane.update(resource, {
    ...found,
    ...wanted,
    metadata: {
      ...found.metadata,
      labels: { ...labels, ...given.labels },
      annotations: { ...annotations, ...given.annotations },
    },
  });
}
