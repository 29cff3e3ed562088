/**
 * What taint policies remember on a Cluster, in the annotation `lifeboat.dev/taint-policies`: a JSON object, per policy
 * uid, of since when its conditions match or do not, in which state they were last seen, and which taints it added.
 *
 * 1. It is written together with the taints, in one write, so that the two never disagree.
 * 2. What cannot be understood is forgotten: taints of a lost record count as set by another writer, and stay.
 */
import { type Instant, formatTime, parseTime } from "@lifeboat/base";
import { type Fields, fieldsAt, integerAt, isFields, listAt, textAt } from "../../fields.ts";

/** A taint that a policy added. Its identity is key and effect; the value shows whether it was changed since. */
export interface HeldTaint {
  readonly key: string;
  readonly effect: string;
  readonly value: string;
}

/** What is remembered of one policy. */
export interface PolicyMemory {
  /** The generation of the policy that this is about: an edit starts the windows again. */
  readonly generation: number;
  readonly matches: boolean;
  /** Since when `matches` is as it is, without a gap that we know of. */
  readonly since: Instant;
  /** The conditions that the policy names, as last seen; see `fingerprint`. */
  readonly seen: string;
  readonly added: readonly HeldTaint[];
  /** Taints that a person took off; they stay off until the conditions stop matching once. */
  readonly removedByHand: readonly HeldTaint[];
}

export type TaintRecord = ReadonlyMap<string, PolicyMemory>;

/** Key and effect in one text. */
export function taintId({
  key,
  effect,
}: {
  readonly key: string;
  readonly effect: string;
}): string {
  return `${key}:${effect}`;
}

export function parseTaintRecord(text: string | undefined): TaintRecord {
  const record = new Map<string, PolicyMemory>();
  for (const [uid, entry] of Object.entries(parsed(text))) {
    const matching = parseTime(textAt(entry, "matchingSince"));
    const since = matching ?? parseTime(textAt(entry, "mismatchingSince"));
    if (since === undefined) continue;
    record.set(uid, {
      generation: integerAt(entry, "generation") ?? 0,
      matches: matching !== undefined,
      since,
      seen: textAt(entry, "seen"),
      added: heldTaints(entry, "added"),
      removedByHand: heldTaints(entry, "removedByHand"),
    });
  }
  return record;
}

/** The annotation's value; undefined when there is nothing to remember. Sorted, so that equal records are equal texts. */
export function formatTaintRecord(record: TaintRecord): string | undefined {
  if (record.size === 0) return undefined;
  const entries = [...record].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(
    Object.fromEntries(
      entries.map(([uid, memory]) => [
        uid,
        {
          generation: memory.generation,
          [memory.matches ? "matchingSince" : "mismatchingSince"]: formatTime(memory.since),
          ...(memory.seen === "" ? {} : { seen: memory.seen }),
          ...(memory.added.length === 0 ? {} : { added: memory.added }),
          ...(memory.removedByHand.length === 0 ? {} : { removedByHand: memory.removedByHand }),
        },
      ]),
    ),
  );
}

function parsed(text: string | undefined): Fields {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}

function heldTaints(entry: unknown, field: string): readonly HeldTaint[] {
  return listAt(fieldsAt(entry), field).flatMap((taint) => {
    const key = textAt(taint, "key");
    const effect = textAt(taint, "effect");
    return key === "" || effect === "" ? [] : [{ key, effect, value: textAt(taint, "value") }];
  });
}
