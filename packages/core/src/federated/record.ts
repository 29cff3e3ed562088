/**
 * What the binding of a federated StatefulSet remembers (D15), in two annotations:
 *
 *   lifeboat.dev/federated-shares   `{"c1": 4, "c2": 4, "c3": 3}`: how many replicas are each cluster's own
 *   lifeboat.dev/federated-record   the replicas that the shares were decided for, the clusters that the set may be in, the
 *                                   number of each cluster (for unique integers), and the clusters that were forgotten;
 *                                   of a quorum also what is started, what formed it, and the replica that leaves
 *
 * 1. The annotation of the shares makes a binding federated. It is there, empty, before the first placement, and nothing else
 *    is asked: a template that is missing from a cache changes nothing.
 * 2. A record that cannot be read is never replaced by a new one: the shares in it would be lost.
 */
import { equalJson, type ResourceBinding } from "@lifeboat/api";
import { formatTime, type Instant, parseTime } from "@lifeboat/base";
import { compareText, countAt, isFields, listAt, textAt, valueAt } from "../fields.ts";
import { FEDERATED_RECORD, FEDERATED_SHARES } from "../well-known.ts";

type Annotated = Pick<ResourceBinding, "metadata">;

export interface FederatedRecord {
  /** By cluster: how many replicas are its own, at least 1. */
  readonly shares: ReadonlyMap<string, number>;
  /** What `spec.replicas` was when the shares were last complete. */
  readonly replicas: number;
  /** Every cluster that the set may be in, also those without a share, by name. */
  readonly clusters: readonly string[];
  /** By cluster: the number that its unique integers begin with. Never given to another cluster. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Clusters whose share a person gave up: they get none again. */
  readonly forgotten: ReadonlySet<string>;
  /** Of a quorum, by cluster: how many replicas of the share are started (see start.ts). Absent: all. */
  readonly started?: ReadonlyMap<string, number>;
  /**
   * Of a quorum, by cluster: how many pods form it now; 0 once it is formed. A cluster keeps its entry for ever, because the
   * pod template of the others bears a label that these lack (see start.ts).
   */
  readonly founders?: ReadonlyMap<string, number>;
  /** Of a quorum: the replica that leaves now (see departure.ts). */
  readonly leaving?: Leaving;
  /** How many replicas were asked to leave so far: the number of the last one. */
  readonly departures?: number;
  /** Why a scale-down is not carried out now, with the numbers that it was decided on. */
  readonly held?: Held;
}

/** A replica that stays until the application has let it go. */
export interface Leaving {
  readonly cluster: string;
  readonly ordinal: number;
  /** No other departure of the set has it. */
  readonly number: number;
  readonly since: Instant;
}

export interface Held {
  readonly reason: string;
  /** How many replicas living clusters had, and how many of them would have gone. */
  readonly living: number;
  readonly removed: number;
}

export const NO_RECORD: FederatedRecord = Object.freeze({
  shares: new Map(),
  replicas: 0,
  clusters: [],
  numbers: new Map(),
  forgotten: new Set<string>(),
});

/** Whether the binding is that of a federated StatefulSet. */
export function isFederated({ metadata }: Annotated): boolean {
  return metadata.annotations?.[FEDERATED_SHARES] !== undefined;
}

/** What is remembered; undefined: the binding is not federated, or what it holds cannot be read. */
export function readFederated(binding: object): FederatedRecord | undefined {
  const shares = countsOf(parsed(textAt(binding, "metadata", "annotations", FEDERATED_SHARES)));
  const text = textAt(binding, "metadata", "annotations", FEDERATED_RECORD);
  if (text === "") return shares?.size === 0 ? NO_RECORD : undefined;
  const record = parsed(text);
  const numbers = countsOf(valueAt(record, "numbers"));
  const replicas = valueAt(record, "replicas");
  const clusters = namesOf(record, "clusters");
  const forgotten = namesOf(record, "forgotten");
  if (shares === undefined || numbers === undefined || !isCount(replicas)) return undefined;
  if (clusters === undefined || forgotten === undefined) return undefined;
  const quorum = readQuorum(record);
  if (quorum === undefined) return undefined;
  const held = new Map([...shares].filter(([, share]) => share > 0));
  return {
    shares: held,
    replicas,
    clusters,
    numbers,
    forgotten: new Set(forgotten),
    ...quorum,
  };
}

type QuorumRecord = Pick<
  FederatedRecord,
  "started" | "founders" | "leaving" | "departures" | "held"
>;

/** What a quorum has beside other sets; undefined: a part cannot be read. */
function readQuorum(record: unknown): QuorumRecord | undefined {
  const [begun, formed, going] = ["started", "founders", "leaving"].map((field) =>
    valueAt(record, field),
  );
  const started = begun === undefined ? undefined : countsOf(begun);
  const founders = formed === undefined ? undefined : countsOf(formed);
  const leaving = going === undefined ? undefined : leavingOf(going);
  if (begun !== undefined && started === undefined) return undefined;
  if (formed !== undefined && founders === undefined) return undefined;
  if (going !== undefined && leaving === undefined) return undefined;
  const departures = countAt(record, "departures");
  const held = valueAt(record, "held");
  return {
    ...(started !== undefined && { started }),
    ...(founders !== undefined && { founders }),
    ...(leaving !== undefined && { leaving }),
    ...(departures > 0 && { departures }),
    ...(held !== undefined && {
      held: {
        reason: textAt(held, "reason"),
        living: countAt(held, "living"),
        removed: countAt(held, "removed"),
      },
    }),
  };
}

function leavingOf(value: unknown): Leaving | undefined {
  const since = parseTime(textAt(value, "since"));
  const [ordinal, number] = [valueAt(value, "ordinal"), valueAt(value, "number")];
  if (since === undefined || !isCount(ordinal) || !isCount(number)) return undefined;
  return { cluster: textAt(value, "cluster"), ordinal, number, since };
}

/** The binding with what is to be remembered; the same object when it holds that already. */
export function withFederated<B extends Annotated>(binding: B, record: FederatedRecord): B {
  const { annotations = {} } = binding.metadata;
  const texts = {
    [FEDERATED_SHARES]: JSON.stringify(inOrder(record.shares)),
    [FEDERATED_RECORD]: JSON.stringify({
      replicas: record.replicas,
      clusters: record.clusters,
      numbers: inOrder(record.numbers),
      forgotten: [...record.forgotten].toSorted(compareText),
      ...(record.started !== undefined && { started: inOrder(record.started) }),
      ...(record.founders !== undefined && { founders: inOrder(record.founders) }),
      ...(record.leaving !== undefined && {
        leaving: { ...record.leaving, since: formatTime(record.leaving.since) },
      }),
      ...(record.departures !== undefined && { departures: record.departures }),
      ...(record.held !== undefined && { held: record.held }),
    }),
  };
  const next = { ...annotations, ...texts };
  if (equalJson(next, annotations)) return binding;
  return { ...binding, metadata: { ...binding.metadata, annotations: next } };
}

/** How many replicas the shares hold together. */
export function assignedReplicas({ shares }: Pick<FederatedRecord, "shares">): number {
  return [...shares.values()].reduce((sum, share) => sum + share, 0);
}

function inOrder(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].toSorted(([a], [b]) => compareText(a, b)));
}

function countsOf(value: unknown): ReadonlyMap<string, number> | undefined {
  if (!isFields(value)) return undefined;
  const entries = Object.entries(value);
  if (!entries.every(([, count]) => isCount(count))) return undefined;
  return new Map(entries as [string, number][]);
}

function namesOf(record: unknown, field: string): readonly string[] | undefined {
  const names = listAt(record, field);
  return names.every((name) => typeof name === "string") ? names : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
