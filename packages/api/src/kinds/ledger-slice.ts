/**
 * The history of the fleet: what the control plane decided and what people did, in numbered entries. A slice is written once and
 * never changed; a later slice that holds the entries of several small ones replaces them.
 */
import { equalJson } from "../equal-json.ts";
import { forbidden } from "../field-error.ts";
import { ageColumn, declareKind, type DeclaredObject } from "./builder/kind-declaration.ts";
import { list, longInteger, object, optional, type Static, text, time } from "./builder/shape.ts";

/** How many entries one slice holds at most. */
export const MAX_LEDGER_ENTRIES = 500;

const ledgerEntry = object("One thing that happened.", {
  at: time("When."),
  action: text("What happened, as one word.", { minLength: 1 }),
  subject: object("The object that shows it.", {
    kind: text("Its kind."),
    namespace: optional(text("Its namespace.")),
    name: text("Its name."),
    uid: text("Its uid."),
  }),
  fact: text("Which part of the object changed."),
  value: optional(text("What it is since then; absent: it is gone.")),
  cluster: optional(text("The cluster that it is about.")),
  workload: optional(
    object("The workload that it is about.", {
      kind: text("Its kind."),
      namespace: optional(text("Its namespace.")),
      name: text("Its name."),
    }),
  ),
  evacuation: optional(text("The Evacuation that it belongs to.")),
  message: optional(text("What happened, for people.")),
  by: optional(
    text("The user whose write did it, as admission saw it; absent: the control plane."),
  ),
  reason: optional(text("The reason that this user gave.")),
});

export type LedgerEntry = Static<typeof ledgerEntry>;

export const ledgerSliceKind = declareKind({
  group: "lifeboat.dev",
  version: "v1alpha1",
  kind: "LedgerSlice",
  plural: "ledgerslices",
  namespaced: false,
  description: "Some entries of the history of the fleet, oldest first. Never changed.",
  categories: ["lifeboat"],
  columns: [
    { name: "FIRST", type: "integer", jsonPath: ".spec.first" },
    { name: "LAST", type: "integer", jsonPath: ".spec.last" },
    ageColumn,
  ],
  spec: object("The entries; cannot be changed.", {
    first: longInteger("The number of the first entry.", { minimum: 1 }),
    last: longInteger("The number of the last entry.", { minimum: 1 }),
    entries: list("The entries, in the order of their numbers.", ledgerEntry, {
      maxItems: MAX_LEDGER_ENTRIES,
    }),
  }),
  rules: ({ spec }, old) =>
    old === undefined || equalJson(spec, old.spec) ? [] : [forbidden("spec", "cannot be changed")],
});

export type LedgerSlice = DeclaredObject<typeof ledgerSliceKind>;
export const ledgerSlices = ledgerSliceKind.resource;
