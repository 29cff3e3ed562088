/**
 * What an edit would move: it is written to a copy of a control plane, whose own code then runs on a virtual clock until nothing
 * changes any more. Nothing outside is touched.
 */
import {
  clusterResourceBindings,
  type KubeObject,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  type Work,
  works,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { resultOf } from "@lifeboat/core/binding";
import { workloadOf } from "@lifeboat/core/clusters";
import { sharesOf } from "@lifeboat/core/operating";
import { clusterOfWork } from "@lifeboat/core/propagation/works";
import type { Ledger } from "../disk/ledger.ts";
import { createSimulation, type SimulationPorts } from "../simulation.ts";
import { isWhole } from "./outcome.ts";
import { applyFirst, HEARTBEATS, type PlayFrom, type PlayRequest, untilAtRest } from "./play.ts";
import { restMsOf } from "./rest.ts";

export interface ChangedWorkload {
  /** `Deployment shop/web`. */
  readonly workload: string;
  /** `member1:2, member2:1`; "": nowhere, or not propagated. */
  readonly before: string;
  readonly after: string;
  /** Whether every copy is there and healthy at the end; a workload that is no longer propagated is not. */
  readonly isWhole: boolean;
  /** Why it is not placed, as its binding has it; "" when it is. */
  readonly message: string;
}

export interface PlayedChange {
  /** Those whose result the edit changes, by name. */
  readonly workloads: readonly ChangedWorkload[];
  /** How many keep their result. */
  readonly unchanged: number;
  /** Until the last change. */
  readonly tookMs: number;
  readonly playedMs: number;
  readonly isCutOff: boolean;
}

export async function playChange(
  ports: SimulationPorts,
  { snapshot, images }: PlayFrom,
  request: PlayRequest,
): Promise<PlayedChange> {
  const { controllers, limitMs, apply = [] } = request;
  const members = [...images.joined.keys()];
  const simulation = await createSimulation(ports, { seed: 1, members, images, controllers });
  const { ledger } = simulation;
  const before = bindingsOf(ledger);
  const began = ledger.now;
  let lastChange = 0;
  ledger.onChange(({ at, table }) => {
    if (!HEARTBEATS.has(table)) lastChange = at - began;
  });
  await applyFirst(simulation, snapshot, apply);
  const restMs = restMsOf(snapshot, request);
  const end = await untilAtRest(simulation, () => lastChange, { restMs, limitMs });
  const after = bindingsOf(ledger);
  const uids = [...new Set([...before.keys(), ...after.keys()])];
  const found = uids.flatMap((uid) => changeOf(ledger, before.get(uid), after.get(uid)));
  const workloads = found.toSorted((a, b) => (a.workload < b.workload ? -1 : 1));
  return { workloads, unchanged: uids.length - workloads.length, tookMs: lastChange, ...end };
}

function changeOf(
  ledger: Ledger,
  before: ResourceBinding | undefined,
  after: ResourceBinding | undefined,
): readonly ChangedWorkload[] {
  const some = after ?? before;
  if (some === undefined) return [];
  const shares = (binding: ResourceBinding | undefined): string =>
    binding === undefined ? "" : sharesOf(resultOf(binding));
  const isNew = before === undefined;
  if (!isNew && after !== undefined && shares(before) === shares(after)) return [];
  return [
    {
      workload: workloadOf(some),
      before: shares(before),
      after: shares(after),
      isWhole:
        after !== undefined &&
        isWhole({ binding: after, works: worksOf(ledger, after), failed: new Set() }),
      message: after === undefined ? "no policy selects it any more" : notScheduled(after),
    },
  ];
}

function notScheduled({ status }: ResourceBinding): string {
  const condition = (status?.conditions ?? []).find(({ type }) => type === "Scheduled");
  return condition?.status === "True" ? "" : (condition?.message ?? "it is not scheduled");
}

function bindingsOf(ledger: Ledger): ReadonlyMap<string, ResourceBinding> {
  return new Map(
    [resourceBindings, clusterResourceBindings]
      .flatMap((resource) => read(ledger, resource))
      .map((binding) => [binding.metadata.uid, binding]),
  );
}

function worksOf(ledger: Ledger, { metadata }: ResourceBinding): ReadonlyMap<string, Work> {
  const id = (labels: Readonly<Record<string, string>> = {}): string =>
    labels[wellKnown.BINDING_ID] ?? labels[wellKnown.CLUSTER_BINDING_ID] ?? "";
  return new Map(
    read(ledger, works)
      .filter((work) => id(work.metadata.labels) === id(metadata.labels))
      .map((work) => [clusterOfWork(work), work]),
  );
}

function read<T extends KubeObject>(ledger: Ledger, { group, plural }: Resource<T>): readonly T[] {
  return ledger.objects("plane", `${group}/${plural}`).map(({ object }) => object as unknown as T);
}
