/** All promises of the simulation, one file per group of invariants. What an oracle is says `oracle.ts`. */
import * as agents from "./agents.ts";
import * as balancers from "./balancers.ts";
import * as bounds from "./bounds.ts";
import * as detection from "./detection.ts";
import * as detectors from "./detectors.ts";
import * as directly from "./directly.ts";
import * as eligibility from "./eligibility.ts";
import * as failback from "./failback.ts";
import * as federated from "./federated.ts";
import * as globalNames from "./global-names.ts";
import * as graceful from "./graceful.ts";
import * as ingresses from "./ingresses.ts";
import * as liveness from "./liveness.ts";
import * as orders from "./orders.ts";
import * as placed from "./placed.ts";
import type { AlwaysOracle, ConvergedOracle, RequestOracle, Violation } from "./oracle.ts";
import * as placement from "./placement.ts";
import * as propagation from "./propagation.ts";
import * as queue from "./queue.ts";
import * as rate from "./rate.ts";
import * as remedy from "./remedy.ts";
import * as reports from "./reports.ts";
import * as state from "./state.ts";
import * as store from "./store.ts";
import type { Write } from "../network/sim-client.ts";
import type { Truth } from "./truth.ts";

interface Group {
  readonly alwaysOracles?: readonly AlwaysOracle[];
  readonly convergedOracles?: readonly ConvergedOracle[];
}

const groups: readonly Group[] = [
  detection,
  eligibility,
  rate,
  queue,
  orders,
  failback,
  graceful,
  directly,
  state,
  placement,
  placed,
  propagation,
  reports,
  agents,
  remedy,
  ingresses,
  balancers,
  detectors,
  federated,
  globalNames,
  store,
  bounds,
  liveness,
];

export const alwaysOracles: readonly AlwaysOracle[] = groups.flatMap(
  (group) => group.alwaysOracles ?? [],
);

export const convergedOracles: readonly ConvergedOracle[] = groups.flatMap(
  (group) => group.convergedOracles ?? [],
);

export const requestOracles: readonly RequestOracle[] = [
  ...directly.requestOracles,
  ...store.requestOracles,
  ...detectors.requestOracles,
];

/** Judges everything that must hold once the world has converged. */
export function judgeConverged(truth: Truth, members: readonly string[]): readonly Violation[] {
  return convergedOracles.flatMap(({ name, promise, judge }) =>
    judge(truth, members).map((text) => ({ oracle: name, promise, says: text })),
  );
}

/** Judges what was asked for, and was done. */
export function judgeDone(write: Write): readonly Violation[] {
  const found = agents.alwaysOracles.find(({ name }) => name === "agents-change-only-their-own");
  const { name = "", promise = "" } = found ?? {};
  return agents.judgeTaken(write).map((says) => ({ oracle: name, promise, says }));
}

/** Judges what a controller asks a server for. */
export function judgeRequest(write: Write, truth: Truth): readonly Violation[] {
  return requestOracles.flatMap(({ name, promise, judge }) =>
    judge(write, truth).map((text) => ({ oracle: name, promise, says: text })),
  );
}
