/**
 * Seeded bugs for the oracles of the simulation: each breaks one promise in the product, and the oracle of that promise must
 * say so. `npm run sim:mutants` puts them in one at a time.
 */
import type { SimMutant } from "./mutant.ts";
import { agentsMutants } from "./mutants/agents.ts";
import { clockMutants } from "./mutants/clock.ts";
import { detectionMutants } from "./mutants/detection.ts";
import { directlyMutants } from "./mutants/directly.ts";
import { eligibilityMutants } from "./mutants/eligibility.ts";
import { federatedMutants } from "./mutants/federated.ts";
import { gracefulMutants } from "./mutants/graceful.ts";
import { lateMutants } from "./mutants/late.ts";
import { livenessMutants } from "./mutants/liveness.ts";
import { ordersMutants } from "./mutants/orders.ts";
import { placementMutants } from "./mutants/placement.ts";
import { propagationMutants } from "./mutants/propagation.ts";
import { queueMutants } from "./mutants/queue.ts";
import { reportsMutants } from "./mutants/reports.ts";
import { stateMutants } from "./mutants/state.ts";
import { storeMutants } from "./mutants/store.ts";
import { trafficMutants } from "./mutants/traffic.ts";

export const simMutants: readonly SimMutant[] = [
  ...detectionMutants,
  ...clockMutants,
  ...eligibilityMutants,
  ...queueMutants,
  ...ordersMutants,
  ...gracefulMutants,
  ...directlyMutants,
  ...lateMutants,
  ...stateMutants,
  ...placementMutants,
  ...propagationMutants,
  ...reportsMutants,
  ...agentsMutants,
  ...trafficMutants,
  ...federatedMutants,
  ...storeMutants,
  ...livenessMutants,
];
