/**
 * The record of workloads leaving a faulty cluster: an Evacuation says how far it is and can be paused; its
 * EvacuationSlices say, written once and never changed, who is affected and on which terms; the one EvacuationBudget says
 * how fast the whole fleet may go.
 */
import { equalJson } from "../equal-json.ts";
import { type FieldError, forbidden, invalid } from "../field-error.ts";
import { ageColumn, declareKind, type DeclaredObject } from "./builder/kind-declaration.ts";
import {
  choice,
  decimal,
  flag,
  integer,
  list,
  longInteger,
  object,
  optional,
  type Static,
  text,
  time,
  withDefault,
} from "./builder/shape.ts";
import { conditions, count, observedGeneration } from "./shared/conditions.ts";
import { PURGE_MODES } from "./shared/failover.ts";
import { EVICTING_EFFECTS } from "./shared/taints.ts";

const GROUP = "lifeboat.dev";
const VERSION = "v1alpha1";
const CATEGORIES = ["lifeboat"];
const MAX_ENTRIES = 500;

const taintIdentity = object("The taint that moves the workloads.", {
  key: text("Its key.", { minLength: 1 }),
  value: optional(text("Its value.")),
  effect: choice("Its effect.", EVICTING_EFFECTS),
  timeAdded: optional(time("When the cluster got it.")),
});

const bindingReference = object("A binding.", {
  kind: choice("Its kind.", ["ResourceBinding", "ClusterResourceBinding"]),
  namespace: optional(text("Its namespace.")),
  name: text("Its name.", { minLength: 1 }),
  uid: text("Its uid.", { minLength: 1 }),
});

export const EVACUATION_PHASES = [
  "Recording",
  "Running",
  "Braked",
  "Paused",
  "Held",
  "AwaitingApproval",
  "Completed",
  "Abandoned",
] as const;

const evacuationStatus = object("How far it is.", {
  observedGeneration: optional(observedGeneration),
  phase: optional(
    choice(
      "Recording: entries are being written. Running. Braked: the fleet's rate is 0. Paused: by a person, or the gate is " +
        "off. Held: only entries without a target are left. AwaitingApproval: only entries are left that a person has not " +
        "approved. Completed. Abandoned: the cluster recovered first.",
      EVACUATION_PHASES,
    ),
  ),
  reason: optional(text("Why it is in this phase, as one word.")),
  message: optional(text("Why, for people.")),
  startedAt: optional(time("When the cluster became faulty.")),
  finishedAt: optional(time("When nothing was left to do.")),
  taints: optional(
    list(
      "The taints whose entries are recorded.",
      object("One taint.", {
        taint: taintIdentity,
        slices: count("How many slices belong to it; nothing is released before all exist."),
        recorded: flag("Whether all slices exist."),
        removedAt: optional(time("When the cluster lost it: its queued entries are abandoned.")),
      }),
    ),
  ),
  entries: optional(
    object("How many entries there are in each state.", {
      total: count("All."),
      queued: count("Not yet released."),
      evicted: count("Released, and not yet safe elsewhere."),
      done: count("Moved."),
      held: count("Without a target for now."),
      awaitingApproval: optional(count("Not released before a person approves them.")),
      paused: optional(
        count(
          "Those of the queued whose namespace a person paused; they stay until it is resumed.",
        ),
      ),
      abandoned: count("Left where they are, because the cluster recovered or a person said so."),
      exempt: count("Never moved, such as a federated StatefulSet."),
    }),
  ),
  rate: optional(
    object("How fast it may go.", {
      perSecond: decimal("Releases per second over the whole fleet.", { minimum: 0 }),
      reason: text("Why this rate, as one word."),
    }),
  ),
  estimatedSecondsLeft: optional(
    longInteger("How long it will take at this rate.", { minimum: 0 }),
  ),
  held: optional(
    list(
      "Entries that wait for a target, the first of them.",
      object("An entry that waits.", {
        binding: bindingReference,
        reason: text("Why, as one word."),
        message: optional(text("Why, for people.")),
        since: optional(time("Since when.")),
      }),
      { maxItems: 100 },
    ),
  ),
  editedByHand: optional(
    list("Entries whose workload a person put back by hand.", bindingReference, {
      maxItems: 1000,
    }),
  ),
  conditions: optional(conditions("What else is known of it.")),
});

const approval = object(
  "A person's approval; without a namespace and a uid it covers the whole evacuation.",
  {
    at: time("When it was given."),
    expiresAt: optional(
      time(
        "What has not left by then waits for another approval; absent: it ends with the evacuation.",
      ),
    ),
    namespace: optional(text("It covers the workloads of this namespace only.", { minLength: 1 })),
    uid: optional(text("It covers the binding with this uid only.", { minLength: 1 })),
    reason: optional(text("Why, in the words of the person.", { maxLength: 1024 })),
  },
);

export type EvacuationApproval = Static<typeof approval>;
export type EvacuationStatus = Static<typeof evacuationStatus>;
export type EvacuationPhase = (typeof EVACUATION_PHASES)[number];

export const evacuationKind = declareKind({
  group: GROUP,
  version: VERSION,
  kind: "Evacuation",
  plural: "evacuations",
  namespaced: false,
  description: "Workloads leaving a faulty cluster: how many, how far, how fast.",
  shortNames: ["evac"],
  categories: CATEGORIES,
  columns: [
    { name: "CLUSTER", type: "string", jsonPath: ".spec.cluster" },
    { name: "PHASE", type: "string", jsonPath: ".status.phase" },
    { name: "DONE", type: "integer", jsonPath: ".status.entries.done" },
    { name: "HELD", type: "integer", jsonPath: ".status.entries.held" },
    { name: "TOTAL", type: "integer", jsonPath: ".status.entries.total" },
    { name: "RATE", type: "number", jsonPath: ".status.rate.perSecond" },
    { name: "REASON", type: "string", jsonPath: ".status.reason", priority: 1 },
    ageColumn,
  ],
  spec: object("Which cluster, and whether to go on.", {
    cluster: text("The faulty cluster; cannot be changed.", { minLength: 1 }),
    paused: withDefault(flag("true: nothing more is released."), false),
    approvals: optional(
      list(
        "What people approved of this evacuation: entries that need an approval are released only under one of these.",
        approval,
        { maxItems: 100 },
      ),
    ),
    takenOut: optional(
      list("What a person wants to stay: these bindings are not moved.", bindingReference, {
        maxItems: 1000,
      }),
    ),
  }),
  status: evacuationStatus,
  rules: ({ spec }, old) => unchanged("spec.cluster", spec.cluster, old?.spec.cluster),
});

export type Evacuation = DeclaredObject<typeof evacuationKind>;
export const evacuations = evacuationKind.resource;

const sliceEntry = object("One affected workload, and on which terms it moves.", {
  binding: bindingReference,
  resource: object("The workload.", {
    apiVersion: text("Its group and version."),
    kind: text("Its kind."),
    name: text("Its name."),
  }),
  lane: choice("Workloads go first; what has neither replicas nor health comes after them.", [
    "Workload",
    "Passive",
  ]),
  toleratedUntil: optional(time("Not before this time; absent: at once.")),
  purgeMode: optional(choice("What becomes of the old copy.", PURGE_MODES)),
  priority: optional(
    integer("Of entries that may leave, those with a higher number leave first; absent: 0."),
  ),
  approval: optional(
    choice("Required: it does not leave before a person approves it.", ["Required"]),
  ),
  result: optional(
    text("The signature of the workload's result at that moment: another result has another one."),
  ),
  exempt: optional(text("Why it does not move, as one word; absent: it moves.")),
});

export const evacuationSliceKind = declareKind({
  group: GROUP,
  version: VERSION,
  kind: "EvacuationSlice",
  plural: "evacuationslices",
  namespaced: false,
  description:
    "Some entries of an Evacuation: the affected workloads and the terms of each. Never changed.",
  categories: CATEGORIES,
  columns: [
    { name: "EVACUATION", type: "string", jsonPath: ".spec.evacuation" },
    { name: "TAINT", type: "string", jsonPath: ".spec.taint.key" },
    { name: "EFFECT", type: "string", jsonPath: ".spec.taint.effect" },
    ageColumn,
  ],
  spec: object("The entries; cannot be changed.", {
    evacuation: text("The Evacuation they belong to.", { minLength: 1 }),
    taint: taintIdentity,
    ordinal: count("The place of this slice among those of the taint."),
    entries: list("The entries, in the order in which they are released.", sliceEntry, {
      maxItems: MAX_ENTRIES,
    }),
  }),
  rules: ({ spec }, old) => unchanged("spec", spec, old?.spec),
});

export type EvacuationSlice = DeclaredObject<typeof evacuationSliceKind>;
export type EvacuationEntry = Static<typeof sliceEntry>;
export const evacuationSlices = evacuationSliceKind.resource;

/** There is one budget for the fleet. */
export const FLEET_BUDGET = "fleet";

export const evacuationBudgetKind = declareKind({
  group: GROUP,
  version: VERSION,
  kind: "EvacuationBudget",
  plural: "evacuationbudgets",
  namespaced: false,
  description:
    "The record of the fleet: how fast workloads may be moved, what people paused or released, which deletions were let " +
    "through, and steps of the clock. There is one, named fleet.",
  categories: CATEGORIES,
  columns: [
    { name: "RATE", type: "number", jsonPath: ".status.ratePerSecond" },
    { name: "REASON", type: "string", jsonPath: ".status.reason" },
    { name: "PAUSED", type: "boolean", jsonPath: ".spec.paused" },
    ageColumn,
  ],
  spec: object("What people say.", {
    paused: withDefault(flag("true: nothing is released anywhere."), false),
    pausedClusters: optional(
      list("Nothing is released from these clusters.", text("A cluster.", { minLength: 1 }), {
        maxItems: 2000,
      }),
    ),
    pausedNamespaces: optional(
      list("No workload of these namespaces is released.", text("A namespace.", { minLength: 1 }), {
        maxItems: 2000,
      }),
    ),
    rateOverride: optional(
      object("The rate that a person set for a time, whatever share of the fleet has failed.", {
        perSecond: decimal("Releases per second; 0: none.", { minimum: 0 }),
        atMost: optional(
          flag(
            "Whether this is only an upper bound: where the fleet itself gives less, or nothing, that holds. Otherwise it holds also " +
              "where the brake of an unhealthy fleet stops everything.",
          ),
        ),
        setAt: time("When it was set."),
        until: time("From then on the fleet decides again."),
        reason: text("Why, in the words of the person.", { minLength: 1, maxLength: 1024 }),
      }),
    ),
    brakeReleasedAt: optional(
      time("A person let deletions go on after the mass-deletion brake of before this time."),
    ),
    restoreAgreedAt: optional(
      time(
        "A person let a restored control plane delete in members after a restore before this time.",
      ),
    ),
    trafficBlocksAgreedAt: optional(
      time("A person let Remedies block traffic again after the brake of before this time."),
    ),
    isolationAgreedAt: optional(
      time(
        "A person agreed that the Pull clusters that were silent by this time have failed: releases go on although they fell " +
          "silent together.",
      ),
    ),
  }),
  status: object("The rate of the fleet as it is, and the last reservation of releases.", {
    reservedUntil: optional(time("No release before this time: the token up to then is used.")),
    reservedTokens: optional(count("How many releases the last reservation allows.")),
    ratePerSecond: optional(decimal("Releases per second.", { minimum: 0 })),
    reason: optional(text("Why this rate, as one word.")),
    failedClusters: optional(count("Clusters with an evicting taint.")),
    countedClusters: optional(count("Clusters that count: all but those a person drains.")),
    failedShare: optional(decimal("The one divided by the other.", { minimum: 0, maximum: 1 })),
    deletions: optional(
      list(
        "The deletions of Works within the last minute that the mass-deletion brake counts.",
        object("Those of one moment.", {
          at: time("When they were let through."),
          count: count("How many were let through."),
          works: count("How many Works there were."),
        }),
        { maxItems: 200 },
      ),
    ),
    trafficBlocks: optional(
      list(
        "The clusters whose traffic conditions blocked within the last minute.",
        object("One cluster.", {
          at: time("When the block was let through."),
          cluster: text("Its name."),
        }),
        { maxItems: 2000 },
      ),
    ),
    conditions: optional(
      conditions(
        "MassDeletion is True while deletions are stopped. MassTrafficBlock is True while conditions block no further traffic, " +
          "because they blocked half of the fleet within a minute. RestoredFromBackup is True while nothing is deleted in members " +
          "after a restore. PlaneMayBeIsolated is True while releases are stopped, because more than half of the Pull " +
          "clusters fell silent within a minute.",
      ),
    ),
  }),
  rules: ({ metadata: { name } }) =>
    name === FLEET_BUDGET ? [] : [invalid("metadata.name", name, `must be ${FLEET_BUDGET}`)],
});

export type EvacuationBudget = DeclaredObject<typeof evacuationBudgetKind>;
export const evacuationBudgets = evacuationBudgetKind.resource;

function unchanged(field: string, now: unknown, before: unknown): FieldError[] {
  if (before === undefined || equalJson(now, before)) return [];
  return [forbidden(field, "cannot be changed")];
}
