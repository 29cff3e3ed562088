/** A person on call, who does after the faults what the control plane leaves to people. */
import {
  configMaps,
  type EvacuationBudget,
  evacuationBudgets,
  FLEET_BUDGET,
  findCondition,
  type KubeObject,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { MASS_DELETION, releaseTime } from "@lifeboat/core/propagation/brake";
import { MASS_TRAFFIC_BLOCK } from "@lifeboat/core/remedy/actions";
import { CONFIRMATION } from "@lifeboat/dns";
import { STATEFUL_SETS } from "../oracles/federated-reading.ts";
import { BUDGETS } from "../oracles/pauses.ts";
import { CLUSTERS } from "../oracles/truth.ts";
import type { Simulation } from "../simulation.ts";
import { takeFederatedStep } from "./federated-steps.ts";
import { merge } from "./writing.ts";

/** By the condition of a brake: where a person's word stands. */
const WORDS = {
  [MASS_DELETION]: "brakeReleasedAt",
  [MASS_TRAFFIC_BLOCK]: "trafficBlocksAgreedAt",
} as const;

/** Releases the brakes (D19, D27, D28) that are on, and gives up what leaving clusters wait for: until somebody does, it stays. */
export function releaseBrakes(simulation: Simulation): void {
  if (!simulation.allOrdersDone) return;
  release(simulation, MASS_DELETION);
  release(simulation, MASS_TRAFFIC_BLOCK);
  confirmNames(simulation);
  giveUpShares(simulation);
  for (const { object } of simulation.ledger.objects("plane", STATEFUL_SETS))
    if (object.metadata.annotations?.[wellKnown.FEDERATED_QUORUM] === "true")
      takeFederatedStep(simulation, { do: "let-go", set: object.metadata.name });
}

/** Lets a change of names happen that the DNS server holds (D28). */
function confirmNames(simulation: Simulation): void {
  const { witness, clock } = simulation;
  if (witness.names?.isHeld !== true) return;
  const confirmed = { data: { confirmed: String(clock.now()) } };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: CONFIRMATION, ...confirmed };
  simulation.user((plane) => merge(plane, configMaps, object));
}

/** Gives up what federated StatefulSets have in clusters that leave, as `unjoin` asks people to (D15). */
function giveUpShares(simulation: Simulation): void {
  for (const { object } of simulation.ledger.objects("plane", CLUSTERS)) {
    const { name, deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined) continue;
    for (const { object: set } of simulation.ledger.objects("plane", STATEFUL_SETS))
      takeFederatedStep(simulation, { do: "forget", set: set.metadata.name, member: name });
  }
}

/** Releases one brake, if it is on. */
export function release(simulation: Simulation, brake: keyof typeof WORDS): void {
  const { clock, ledger } = simulation;
  for (const { object } of ledger.objects("plane", BUDGETS)) {
    const { status } = object as KubeObject as EvacuationBudget;
    const braked = findCondition(status?.conditions, brake);
    if (braked?.status !== "True") continue;
    const body = { spec: { [WORDS[brake]]: releaseTime(braked, clock.now()) } };
    const key = { namespace: "", name: FLEET_BUDGET };
    simulation.user(async (plane) => {
      await plane.patch(evacuationBudgets, key, { type: "merge", body });
    });
  }
}
