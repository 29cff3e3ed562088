/** SimulatedMember: a member cluster that exists in a process of ours only, with the faults it shall show. */
import { ageColumn, declareKind, type DeclaredObject } from "./builder/kind-declaration.ts";
import {
  choice,
  integer,
  keyedList,
  map,
  object,
  optional,
  quantity,
  type Static,
  text,
  withDefault,
} from "./builder/shape.ts";
import { conditions, count, observedGeneration } from "./shared/conditions.ts";

export const FAULT_MODES = ["api-down", "partition", "slow", "pods-not-ready", "errors"] as const;

const fault = object("A fault.", {
  mode: choice(
    "api-down: its API does not answer. partition: it runs, cut off from us. slow: answers take long. pods-not-ready: no " +
      "pod is ready. errors: some requests fail.",
    FAULT_MODES,
  ),
  delayMilliseconds: optional(integer("For slow: how long an answer takes.", { minimum: 0 })),
  errorPercent: optional(
    integer("For errors: how many requests of a hundred fail.", { minimum: 0, maximum: 100 }),
  ),
});

export const simulatedMemberKind = declareKind({
  group: "lifeboat.dev",
  version: "v1alpha1",
  kind: "SimulatedMember",
  plural: "simulatedmembers",
  namespaced: false,
  description: "A simulated member cluster and the faults it shall show.",
  shortNames: ["simm"],
  categories: ["lifeboat"],
  columns: [
    { name: "FAULTS", type: "string", jsonPath: ".spec.faults[*].mode" },
    { name: "ENDPOINT", type: "string", jsonPath: ".status.endpoint" },
    ageColumn,
  ],
  spec: object("What it is like.", {
    faults: optional(keyedList("What is wrong with it; none: it is well.", "mode", fault)),
    nodes: withDefault(integer("How many nodes it has.", { minimum: 0, maximum: 5000 }), 1),
    nodeCapacity: optional(map("What each node offers.", quantity("An amount."))),
    podStartSeconds: withDefault(integer("How long a pod takes to be ready.", { minimum: 0 }), 1),
    podStopSeconds: withDefault(integer("How long a pod takes to end.", { minimum: 0 }), 1),
  }),
  status: object("What became of it.", {
    observedGeneration: optional(observedGeneration),
    endpoint: optional(text("The URL of its API.")),
    pods: optional(count("How many pods it runs.")),
    conditions: optional(conditions("Serving.")),
  }),
});

export type SimulatedMember = DeclaredObject<typeof simulatedMemberKind>;
export type SimulatedFault = Static<typeof fault>;
export const simulatedMembers = simulatedMemberKind.resource;
