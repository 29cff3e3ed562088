/** How commands read and change Evacuations: a person's order is written only if the object has not changed in between. */
import {
  type Evacuation,
  evacuations,
  type EvacuationSlice,
  evacuationSlices,
  orNothing,
} from "@lifeboat/api";
import { type TakenOut, takenOutOf } from "@lifeboat/core/failover/evacuation";
import type { Client } from "@lifeboat/kit";
import { CommandFailed } from "./failure.ts";
import { onNewest } from "./on-newest.ts";

/** The evacuation; throws CommandFailed with those there are when there is none of this name. */
export async function existingEvacuation(plane: Client, name: string): Promise<Evacuation> {
  const found = await orNothing(plane.get(evacuations, { namespace: "", name }));
  if (found !== undefined) return found;
  const names = (await plane.list(evacuations)).items.map(({ metadata }) => metadata.name);
  const shown = names.slice(-10).join(", ") + (names.length > 10 ? ", …" : "");
  const hint = names.length === 0 ? "there are none" : `there are ${shown}`;
  throw new CommandFailed(`there is no evacuation "${name}"; ${hint}`);
}

/** Its slices, in the order in which they are released. */
export async function slicesOf(
  plane: Client,
  evacuation: string,
): Promise<readonly EvacuationSlice[]> {
  const { items } = await plane.list(evacuationSlices);
  return items
    .filter(({ spec }) => spec.evacuation === evacuation)
    .toSorted((a, b) => a.spec.ordinal - b.spec.ordinal);
}

/** Pauses an evacuation or lets it go on; answers whether it was otherwise before. */
export async function setPaused(plane: Client, name: string, paused: boolean): Promise<boolean> {
  return onNewest(async () => {
    const { metadata, spec } = await existingEvacuation(plane, name);
    if (spec.paused === paused) return false;
    const body = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { paused } };
    await plane.patch(evacuations, { namespace: "", name }, { type: "merge", body });
    return true;
  });
}

/** Takes one entry out of an evacuation for good; answers whether it was in it before. */
export async function takeOut(plane: Client, name: string, binding: TakenOut): Promise<boolean> {
  return onNewest(async () => {
    const found = await existingEvacuation(plane, name);
    if (takenOutOf(found).some(({ uid }) => uid === binding.uid)) return false;
    const body = {
      metadata: { resourceVersion: found.metadata.resourceVersion },
      spec: { takenOut: [...(found.spec.takenOut ?? []), binding] },
    };
    await plane.patch(evacuations, { namespace: "", name }, { type: "merge", body });
    return true;
  });
}
