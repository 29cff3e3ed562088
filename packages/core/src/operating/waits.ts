/**
 * What goes on only after a person has acted, each with the command for it.
 *
 * 1. One wait is one decision: however many workloads wait for the proof that a cluster is off, a person decides once.
 * 2. What is under way by itself is no wait: a toleration that ends, a cluster that leaves in order, a rate above 0.
 * 3. A brake over the whole fleet is named once, not again for each evacuation that it stops.
 */
import {
  type Cluster,
  type Evacuation,
  type EvacuationBudget,
  findCondition,
  type ResourceBinding,
} from "@lifeboat/api";
import { stuckOn, stuckReasons, workloadOf } from "../clusters/stuck.ts";
import { isolationOf } from "../failover/evacuation/isolation.ts";
import { awaitsFence, type FenceTrust, isAnswering } from "../failover/eviction-tasks/fence.ts";
import { MASS_DELETION, RESTORED } from "../propagation/brake/index.ts";
import { MASS_TRAFFIC_BLOCK } from "../remedy/actions/index.ts";
import { FORCE_REMOVAL } from "../well-known.ts";
import { waitingIn } from "./strength.ts";

export type WaitReason =
  | "Fence"
  | "Isolation"
  | "AllPaused"
  | "ClusterPaused"
  | "NamespacePaused"
  | "Approval"
  | "Paused"
  | "GateOff"
  | "Held"
  | "Braked"
  | "MassDeletion"
  | "Restored"
  | "TrafficBlocks"
  | "Names"
  | "Leaving";

export interface Wait {
  readonly reason: WaitReason;
  /** What waits, and for what. */
  readonly message: string;
  /** What a person runs. */
  readonly command: string;
}

export interface WaitsView {
  readonly clusters: readonly Cluster[];
  readonly evacuations: readonly Evacuation[];
  /** Of both scopes. */
  readonly bindings: readonly ResourceBinding[];
  readonly budget: EvacuationBudget | undefined;
  readonly trust: FenceTrust;
  /** What servers of the federation's names hold (D28). */
  readonly heldNames: readonly string[];
}

/** Every decision that waits for a person: what endangers the most first. */
export function waitsOf(view: WaitsView): readonly Wait[] {
  return [
    ...isolationWait(view),
    ...fenceWaits(view),
    ...view.evacuations.flatMap(approvalWait),
    ...pausedFleet(view),
    ...view.evacuations.flatMap((one) => evacuationWaits(one, view.bindings)),
    ...brakeWaits(view.budget),
    ...view.heldNames.map((message): Wait => ({
      reason: "Names",
      message,
      command: "lifeboat dns confirm",
    })),
    ...leavingWaits(view),
  ];
}

function isolationWait({ clusters, budget }: WaitsView): readonly Wait[] {
  const { isIsolated, lapsed } = isolationOf(clusters, budget?.spec.isolationAgreedAt);
  if (!isIsolated) return [];
  const message = `have ${namesIn(lapsed)} failed, or is this control plane cut off? Nothing moves until then`;
  return [{ reason: "Isolation", message, command: "lifeboat evacuations agree" }];
}

function fenceWaits({ clusters, bindings, trust }: WaitsView): readonly Wait[] {
  return clusters.flatMap((cluster): readonly Wait[] => {
    const { name } = cluster.metadata;
    const waiting = bindings.filter((binding) => awaitsFence(binding, cluster, trust));
    if (waiting.length === 0) return [];
    const message = `is ${name} really off? ${namesIn(waiting.map(workloadOf))} ${verb(waiting.length, "waits", "wait")} for it`;
    return [{ reason: "Fence", message, command: `lifeboat fence ${name}` }];
  });
}

function pausedFleet({ budget }: WaitsView): readonly Wait[] {
  const resume = "lifeboat evacuations resume";
  const { paused = false, pausedClusters = [], pausedNamespaces = [] } = budget?.spec ?? {};
  return [
    ...(paused
      ? [
          {
            reason: "AllPaused" as const,
            message: "a person paused all evacuations",
            command: `${resume} --all`,
          },
        ]
      : []),
    ...pausedClusters.map((name): Wait => ({
      reason: "ClusterPaused",
      message: `a person paused evacuations of cluster ${name}`,
      command: `${resume} --cluster ${name}`,
    })),
    ...pausedNamespaces.map((name): Wait => ({
      reason: "NamespacePaused",
      message: `a person paused evacuations of namespace ${name}`,
      command: `${resume} --namespace ${name}`,
    })),
  ];
}

function evacuationWaits(
  evacuation: Evacuation,
  bindings: readonly ResourceBinding[],
): readonly Wait[] {
  const waiting = waitingIn(evacuation);
  const count = (reason: "Paused" | "Braked" | "NoTarget"): number => waiting.get(reason) ?? 0;
  return [
    ...(count("Paused") > 0 ? pausedWait(evacuation, count("Paused")) : []),
    ...(count("Braked") > 0 ? brakedWait(evacuation, count("Braked")) : []),
    ...(count("NoTarget") > 0 ? heldWait(evacuation, count("NoTarget"), bindings) : []),
  ];
}

function approvalWait(evacuation: Evacuation): readonly Wait[] {
  const count = waitingIn(evacuation).get("Approval") ?? 0;
  if (count === 0) return [];
  const { name } = evacuation.metadata;
  const message = `may ${workloads(count)} leave ${evacuation.spec.cluster}? ${verb(count, "It stays", "They stay")} until a person approves`;
  return [{ reason: "Approval", message, command: `lifeboat evacuations approve ${name}` }];
}

function pausedWait(
  { metadata: { name }, spec, status }: Evacuation,
  count: number,
): readonly Wait[] {
  const stays = `${workloads(count)} ${verb(count, "stays", "stay")} on ${spec.cluster}`;
  if (status?.reason === "PausedByPerson") {
    const message = `a person paused ${name}: ${stays}`;
    return [{ reason: "Paused", message, command: `lifeboat evacuations resume ${name}` }];
  }
  if (status?.reason !== "GateOff") return [];
  const message = `the gate Failover is off: ${stays}`;
  return [{ reason: "GateOff", message, command: `lifeboat drain ${spec.cluster}` }];
}

/** What a person decides about a rate of 0: which clusters to repair, or to overrule it for a time. */
function brakedWait({ spec, status }: Evacuation, count: number): readonly Wait[] {
  if (status?.reason === "PlaneMayBeIsolated") return [];
  const stays = `${workloads(count)} ${verb(count, "stays", "stay")} on ${spec.cluster}`;
  const message = `the rate is 0 (${status?.reason ?? "unknown"}): ${stays}`;
  return [{ reason: "Braked", message, command: "lifeboat evacuations rate" }];
}

function heldWait(
  { metadata: { name }, spec, status }: Evacuation,
  count: number,
  bindings: readonly ResourceBinding[],
): readonly Wait[] {
  const [first] = status?.held ?? [];
  const binding = bindings.find(({ metadata }) => metadata.uid === first?.binding.uid);
  const isAlone = count === 1 && binding !== undefined;
  const what = isAlone ? workloadOf(binding) : workloads(count);
  const why = first === undefined ? "" : ` (${first.reason})`;
  const message = `${what} cannot leave ${spec.cluster}${why}`;
  const command = isAlone ? explainCommand(binding) : `lifeboat evacuations show ${name}`;
  return [{ reason: "Held", message, command }];
}

function explainCommand({ spec: { resource } }: ResourceBinding): string {
  const where = resource.namespace === undefined ? "" : ` -n ${resource.namespace}`;
  return `lifeboat explain ${resource.kind.toLowerCase()}/${resource.name}${where}`;
}

const BRAKES: readonly (readonly [type: string, reason: WaitReason])[] = [
  [RESTORED, "Restored"],
  [MASS_DELETION, "MassDeletion"],
  [MASS_TRAFFIC_BLOCK, "TrafficBlocks"],
];

function brakeWaits(budget: EvacuationBudget | undefined): readonly Wait[] {
  return BRAKES.flatMap(([type, reason]): readonly Wait[] => {
    const condition = findCondition(budget?.status?.conditions, type);
    if (condition?.status !== "True") return [];
    return [{ reason, message: condition.message, command: "lifeboat brake release" }];
  });
}

/** A cluster leaves by itself unless a workload is stuck on it, or its copies are out of reach. */
function leavingWaits({ clusters, bindings }: WaitsView): readonly Wait[] {
  return clusters.flatMap((cluster): readonly Wait[] => {
    const { name, deletionTimestamp, annotations } = cluster.metadata;
    if (deletionTimestamp === undefined || annotations?.[FORCE_REMOVAL] === "true") return [];
    const [first, ...others] = stuckOn(name, bindings);
    if (first !== undefined) {
      const more = others.length === 0 ? "" : `, and ${others.length} more`;
      const message = `${first.workload} keeps ${name} from leaving: ${stuckReasons[first.reason]}${more}`;
      const binding = bindings.find((one) => workloadOf(one) === first.workload);
      const command = binding === undefined ? `lifeboat unjoin ${name}` : explainCommand(binding);
      return [{ reason: "Leaving", message, command }];
    }
    if (isAnswering(cluster)) return [];
    const message = `${name} is to leave and does not answer: are its copies to be given up?`;
    return [{ reason: "Leaving", message, command: `lifeboat unjoin ${name} --force` }];
  });
}

const NAMED = 3;

function namesIn(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return names.slice(0, NAMED).join(", ") + more;
}

function workloads(count: number): string {
  return `${count} workload${count === 1 ? "" : "s"}`;
}

function verb(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}
