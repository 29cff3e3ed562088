/**
 * The mark of a migration on the API server that it goes to: a ConfigMap in the control plane's own namespace.
 *
 * 1. While it shows `Moving`, no manager runs controllers: half of a control plane looks like one of which the other half was deleted.
 * 2. It names the state that is moved. Another state is not moved on top of it.
 */
import { configMaps, equalJson, isRefused, type ObjectKey, orNothing } from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import type { Client, KitPorts } from "@lifeboat/kit";

export const MIGRATION_MARK: ObjectKey = Object.freeze({
  namespace: wellKnown.OWN_NAMESPACE,
  name: "migration",
});

export interface MigrationMark {
  readonly phase: "Moving" | "Done";
  /** A digest of what is moved. */
  readonly source: string;
  readonly since: string;
}

export async function readMark(
  plane: Client,
  options: { readonly signal?: AbortSignal } = {},
): Promise<MigrationMark | undefined> {
  const found = await orNothing(plane.get(configMaps, MIGRATION_MARK, options));
  if (found === undefined) return undefined;
  const { phase, source = "", since = "" } = (found["data"] ?? {}) as Partial<MigrationMark>;
  // A mark that cannot be read is one that stops.
  return { phase: phase === "Done" ? "Done" : "Moving", source, since };
}

/**
 * Waits while a control plane is being moved to this API server; false: the signal aborted before. What cannot be read is asked again:
 * nothing is decided on a state of which it is not known whether it is whole.
 */
export async function untilMovedIn(
  { clock, log }: Pick<KitPorts, "clock" | "log">,
  plane: Client,
  signal: AbortSignal,
): Promise<boolean> {
  for (let isTold = false; !signal.aborted;) {
    try {
      const mark = await readMark(plane, { signal });
      if (mark?.phase !== "Moving") return true;
      if (!isTold) log.warn(`a migration is not complete: run it again`, { since: mark.since });
      isTold = true;
    } catch (error) {
      if (!signal.aborted) log.warn("whether a migration is complete is not known", { error });
    }
    await sleep(clock, LOOK_AGAIN_MS, signal);
  }
  return false;
}

const LOOK_AGAIN_MS = 1000;

/** Durable when it resolves. */
export async function writeMark(plane: Client, mark: MigrationMark): Promise<void> {
  const content = { apiVersion: "v1", kind: "ConfigMap", data: { ...mark } };
  const found = await orNothing(plane.get(configMaps, MIGRATION_MARK));
  if (equalJson(found?.["data"], content.data)) return;
  if (found !== undefined) {
    await plane.update(configMaps, { ...found, ...content });
    return;
  }
  try {
    await plane.create(configMaps, { ...content, metadata: MIGRATION_MARK });
  } catch (error) {
    // The answer to an earlier attempt was lost, or another migration began: its mark decides.
    if (!isRefused(error, "AlreadyExists")) throw error;
    const other = await readMark(plane);
    if (other?.source !== mark.source) throw error;
  }
}
