/**
 * Oracles of detectors (A11), by the detections that the witness saw: the condition turns only after a whole window, and the elected
 * instance alone writes it.
 *
 * What follows from detections is written here a second time, on purpose: a bug in the product's own window must not be a bug of its
 * judge. Only the turns between True and False are judged, of a condition that a detector wrote: what people report has no window.
 */
import { type Cluster, type Condition, findCondition, type KubeObject } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { AlwaysOracle, ConvergedOracle, RequestOracle } from "./oracle.ts";
import { clusterNamed, isGoing, nameOfCluster, pairOf } from "./reading.ts";
import { CLUSTERS, LAG_MS, type Truth } from "./truth.ts";
import type { DetectorState } from "./witness.ts";

const LEASES = "coordination.k8s.io/leases";
const REASONS = new Set(["DetectorSucceeds", "DetectorFails"]);
/** From a verdict to a write by it, at the most, when nothing delays it: two periods, and news. */
const NEWS_MS = 2 * 5000 + LAG_MS;
/** For so long an instance that is gone still counts: its Lease is fresh. */
const FRESH_MS = 60_000 + NEWS_MS;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "names-turn-after-a-whole-window",
    promise:
      "A11: ServiceDomainNameResolutionReady turns only after thirty seconds of nothing but the opposite, and to False only when no node finds that names resolve",
    on: "plane",
    tables: [CLUSTERS],
    start: (truth) => (change) => {
      const { before, now } = pairOf<Cluster>(change);
      const [was, is] = [detectedOn(before), detectedOn(now)];
      if (was === undefined || is === undefined || was.status === is.status) return [];
      if (now === undefined || was.status === "Unknown" || is.status === "Unknown") return [];
      return judgeTurn(truth, nameOfCluster(now), is.status === "True", change.at);
    },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "names-that-resolve-are-reported",
    promise: "A11: where a detector runs and names resolve, its Cluster reports that",
    judge: (truth) => {
      const { witness, circumstances } = truth;
      const detected = new Set([...witness.detectors.keys()].map(clusterOf));
      return [...detected].flatMap((name) => {
        const cluster = clusterNamed(truth, name);
        // With the namespace of a cluster that left, the rights of its detector are gone.
        const hasLeft = circumstances.steps.some(
          (step) => step.do === "unjoin" && step.member === name,
        );
        if (cluster === undefined || isGoing(cluster) || hasLeft) return [];
        const status = conditionOf(cluster)?.status;
        return status === "True" ? [] : [`${name} reports ${status}, and names resolve there`];
      });
    },
  },
];

export const requestOracles: readonly RequestOracle[] = [
  {
    name: "the-elected-detector-writes",
    promise: "A11: the elected instance alone writes the condition",
    judge: ({ from, table, key }, truth) => {
      const [, instance = ""] = /^detector (.+)#\d+$/.exec(from) ?? [];
      if (instance === "" || table !== CLUSTERS || isDisturbed(truth, instance)) return [];
      const [cluster = "", host = ""] = instance.split("/");
      const lease = `karmada-es-${cluster}/detector-leader`;
      const holder = (truth.ledger.find("plane", LEASES, lease)?.object as Held | undefined)?.spec
        ?.holderIdentity;
      return holder === undefined || holder === host || holder.startsWith(`${host}_`)
        ? []
        : [`${instance} writes ${key}, and ${holder} is elected`];
    },
  },
];

type Held = KubeObject & { readonly spec?: { readonly holderIdentity?: string } };

function conditionOf(cluster: Cluster | undefined): Condition | undefined {
  return findCondition(cluster?.status?.conditions, wellKnown.NAME_RESOLUTION);
}

/** The condition, if a detector wrote it. */
function detectedOn(cluster: Cluster | undefined): Condition | undefined {
  const condition = conditionOf(cluster);
  return REASONS.has(condition?.reason ?? "") ? condition : undefined;
}

function clusterOf(instance: string): string {
  return instance.split("/", 1)[0] ?? "";
}

/** Whether something but its names goes wrong with an instance. */
function isDisturbed({ circumstances }: Truth, instance: string): boolean {
  return circumstances.disturbed.has(instance);
}

function judgeTurn(truth: Truth, name: string, isUp: boolean, at: number): readonly string[] {
  const all = [...truth.witness.detectors].filter(([instance]) => clusterOf(instance) === name);
  if (all.length === 0) return [];
  const counted = all.filter(([, { endedAt }]) => at - endedAt <= FRESH_MS);
  const found = counted.map(([instance, state]) => `${instance} ${describeState(state, at)}`);
  const turned = `names of ${name} are reported as ${isUp ? "resolving" : "failing"}: `;
  if (!counted.some(([, { verdicts }]) => wasVerdict(verdicts, isUp, at)))
    return [`${turned}${found.join("; ")}`];
  // While news are late an instance may not have told yet what it finds.
  if (isUp || truth.lagMs > LAG_MS) return [];
  const working = counted.filter(
    ([instance, { verdicts, endedAt }]) =>
      endedAt === Infinity &&
      !isDisturbed(truth, instance) &&
      verdicts.at(-1)?.ok === true &&
      at - (verdicts.at(-1)?.since ?? at) > NEWS_MS,
  );
  return working.map(([instance]) => `${turned}${instance} finds that they resolve`);
}

/** Whether an instance had this verdict a moment ago, or has it. */
function wasVerdict(verdicts: DetectorState["verdicts"], isUp: boolean, at: number): boolean {
  return verdicts.some(
    ({ ok }, i) => ok === isUp && at - (verdicts[i + 1]?.since ?? Infinity) <= NEWS_MS,
  );
}

function describeState({ verdicts }: DetectorState, at: number): string {
  const last = verdicts.at(-1);
  if (last === undefined) return "has found nothing for a whole window";
  return `finds ${last.ok} for ${((at - last.since) / 1000).toFixed(1)} s`;
}
