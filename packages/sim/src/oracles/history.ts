/**
 * What callers were told, compared with what is on disk: judged at the end of a run.
 *
 * 1. Every write that somebody was told had worked is on disk (K6).
 * 2. A write that named a version took effect on that very version (K3): nothing that came between is lost.
 * 3. A write of a status changed nothing else (K3).
 */
import { type AnyObject, equalJson, type Json } from "@lifeboat/api";
import { type Committed, parseObject } from "../disk/ledger.ts";
import type { Write } from "../network/sim-client.ts";
import type { Simulation } from "../simulation.ts";
import type { Violation } from "./oracle.ts";
import { LATER_MARK } from "./store.ts";

/** Judges the answers of a whole run. */
export function judgeAnswers(simulation: Simulation): readonly Violation[] {
  const disks = [...simulation.members.values()].map(({ disk }) => disk);
  const lost = [
    ...[simulation.planeDisk, ...disks].flatMap(({ damage }) => damage),
    ...simulation.lostAcknowledgements(),
  ];
  return [
    ...lost.map((says) => ({
      oracle: "acknowledged-writes-survive",
      promise: "K6: what was acknowledged is there after a crash",
      says,
    })),
    ...lostUpdates(simulation),
  ];
}

function lostUpdates({ ledger, writes }: Simulation): readonly Violation[] {
  const rows = new Map<number, Committed>();
  for (const change of ledger.rows)
    if (change.server === "plane") rows.set(change.row.revision, change);
  return writes.acknowledged
    .filter(({ to, verb }) => (to === "plane" || to === "user") && verb === "update")
    .flatMap((write) => {
      const change = rows.get(write.revision);
      return change === undefined
        ? []
        : [...lostUpdate(write, change), ...strayStatus(write, change)];
    });
}

function lostUpdate({ what, version, revision }: Answered, { previous }: Committed) {
  // Nothing was written when there was nothing to change.
  if (version === undefined || version === String(revision)) return [];
  return String(previous?.revision) === version
    ? []
    : [
        {
          oracle: "no-update-is-lost",
          promise: "K3: an update takes effect on the version that it names, and on no other",
          says: `${what} was decided on ${version} and replaced ${previous?.revision}`,
        },
      ];
}

type Answered = Write & { readonly revision: number };

function strayStatus({ what, subresource, version, revision }: Answered, change: Committed) {
  if (subresource !== "status" || version === String(revision)) return [];
  const before = change.previous?.object;
  if (before?.metadata.annotations?.[LATER_MARK] !== undefined) return [];
  return before !== undefined && equalJson(specOf(before), specOf(parseObject(change.row.bytes)))
    ? []
    : [
        {
          oracle: "status-writes-change-nothing-else",
          promise: "K3: a write of a status never touches the rest of the object",
          says: `${what} changed its spec at ${revision}`,
        },
      ];
}

function specOf(object: AnyObject): Json {
  return (object as { readonly spec?: Json }).spec ?? null;
}
