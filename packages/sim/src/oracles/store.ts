/**
 * Oracles of group K: the store and its API.
 *
 * K2 (watches) is judged by somebody who watches from outside, in watch-judge.ts; K6 (acknowledged writes) by what callers
 * were told, in history.ts. K5 (deposed leaders), K8 (audit), K9 (roles) and K10 (bounds) are not yet: the simulation runs
 * without leases, users of different rights and real memory.
 */
import { type AnyObject, equalJson, type Json } from "@lifeboat/api";
import { parseObject } from "../disk/ledger.ts";
import type { AlwaysOracle, ConvergedOracle, RequestOracle } from "./oracle.ts";
import { BINDINGS, isGoing, pairOf } from "./reading.ts";
import { CLUSTERS, WORKS } from "./truth.ts";

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "one-order-of-writes",
    promise:
      "K1: writes are in one order: versions rise, what is made was not there, what is changed or removed was",
    on: "plane",
    start: () => {
      let last = 0;
      return ({ table, key, row: { revision, type }, previous }) => {
        const isLate = revision <= last;
        last = Math.max(last, revision);
        if (isLate) return [`${table} ${key} was written at ${revision}, after ${last}`];
        return (type === "ADDED") === (previous === undefined)
          ? []
          : [`${table} ${key} was ${type} and was ${previous === undefined ? "not " : ""}there`];
      };
    },
  },
  {
    name: "generation-follows-spec",
    promise: "K3: an object's generation rises by one when its content changes, and only then",
    on: "plane",
    tables: [WORKS, CLUSTERS, ...BINDINGS],
    start: () => (change) => {
      const { before, now } = pairOf<AnyObject>(change);
      if (before === undefined || now === undefined || isGoing(now)) return [];
      // Fields that this version does not know are dropped when an object is read; that is no change of it.
      if (before.metadata.annotations?.[LATER_MARK] !== undefined) return [];
      const { generation: from = 0 } = before.metadata;
      const { generation: to = 0 } = now.metadata;
      const expected = from + Number(!equalJson(contentOf(before), contentOf(now)));
      return to === expected
        ? []
        : [`${change.table} ${change.key} is of generation ${to}, not ${expected}`];
    },
  },
  {
    name: "deletion-is-final",
    promise: "K4: what bears finalizers is marked before it goes, and the mark stays",
    on: "both",
    start:
      () =>
      ({ server, table, key, row, previous }) => {
        if (previous === undefined) return [];
        const { finalizers = [], deletionTimestamp } = previous.object.metadata;
        if (row.type === "DELETED")
          return finalizers.length === 0 || deletionTimestamp !== undefined
            ? []
            : [`${server} ${table} ${key} vanished with ${finalizers.join(", ")}`];
        const now = deletionTimestamp === undefined ? undefined : parseObject(row.bytes).metadata;
        return now === undefined || now.deletionTimestamp !== undefined
          ? []
          : [`${server} ${table} ${key} lost its deletionTimestamp`];
      },
  },
  {
    name: "uids-are-for-ever",
    promise: "K4: an object keeps its uid, and no other ever gets it",
    on: "plane",
    start: () => {
      const used = new Set<string>();
      return (change) => {
        const { before, now } = pairOf<AnyObject>(change);
        if (now === undefined) return [];
        const { uid } = now.metadata;
        const where = `${change.table} ${change.key}`;
        if (before !== undefined)
          return before.metadata.uid === uid ? [] : [`${where} changed its uid`];
        if (used.has(uid)) return [`${where} has the uid of another object`];
        used.add(uid);
        return [];
      };
    },
  },
  {
    name: "unknown-marks-survive",
    promise: "K7: annotations that a later version left survive the writes of this one",
    on: "plane",
    tables: [WORKS, CLUSTERS, ...BINDINGS],
    start: () => (change) => {
      const { before, now } = pairOf<AnyObject>(change);
      const [was, is] = [before?.metadata.annotations, now?.metadata.annotations];
      if (now === undefined || was?.[LATER_MARK] === undefined) return [];
      return is?.[LATER_MARK] === was[LATER_MARK]
        ? []
        : [`${change.table} ${change.key} lost ${LATER_MARK}`];
    },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [];

export const requestOracles: readonly RequestOracle[] = [
  {
    name: "changes-name-their-version",
    promise: "K3: an update names the version that it was decided on",
    judge: ({ to, verb, what, version }) =>
      verb !== "update" || version !== undefined ? [] : [`${to} ${what} is updated blindly`],
  },
];

/** On objects that a later version wrote. */
export const LATER_MARK = "lifeboat.dev/from-a-later-version";

/** What an object says but for who it is and what became of it. */
function contentOf(object: AnyObject): Json {
  const {
    metadata: _metadata,
    status: _status,
    ...content
  } = object as AnyObject & {
    readonly status?: unknown;
  };
  return content as Json;
}
