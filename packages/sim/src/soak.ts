/**
 * A world that runs for very long: every hour a member fails for a quarter of it and returns, and workloads move. What piles
 * up in it would fill the disk of a real one.
 *
 * Sampled at the end of each hour, when everything has come to rest.
 */
import { circumstancesOf } from "./oracles/circumstances.ts";
import { Jury } from "./oracles/oracle.ts";
import { alwaysOracles, judgeConverged } from "./oracles/oracles.ts";
import { Truth } from "./oracles/truth.ts";
import { arrangeFault } from "./scenario/faults.ts";
import { taintPolicy } from "./scenario/golden-failover.ts";
import { joinedImages } from "./scenario/joined-images.ts";
import type { Scenario, Step } from "./scenario/scenario.ts";
import { takeStep } from "./scenario/steps.ts";
import { createSimulation, type Simulation, type SimulationPorts } from "./simulation.ts";

export interface SoakSize {
  readonly members: number;
  readonly workloads: number;
}

/** What there is at the end of an hour. */
export interface SoakHour {
  readonly hour: number;
  /** How many there are by place and table, as `plane work.karmada.io/works`; `members`: in all of them. */
  readonly objects: ReadonlyMap<string, number>;
  /** How many writes reached a disk in this hour. */
  readonly writes: number;
  /** Evictions in this hour. */
  readonly moves: number;
  /** Which promises were broken, in words. */
  readonly broken: readonly string[];
}

const HOUR_MS = 3_600_000;
const FAILS_AT = 300;
const RETURNS_AT = 1200;

/** Runs hour after hour. */
export async function* soak(
  ports: SimulationPorts,
  size: SoakSize,
  hours: number,
): AsyncGenerator<SoakHour> {
  const scenario = soakScenario(size);
  const { members, seed } = scenario;
  const images = await joinedImages(ports, members);
  const controllers = { failover: true };
  const simulation = await createSimulation(ports, { seed, members, images, controllers });
  const truth = new Truth(simulation.ledger, circumstancesOf(scenario), simulation.witness);
  const jury = new Jury(truth, alwaysOracles);
  let broken: string[] = [];
  simulation.ledger.onChange((change) => {
    broken.push(...jury.judge(change).map(({ oracle, says }) => `${oracle}: ${says}`));
  });
  for (const step of scenario.steps) takeStep(simulation, step);
  await simulation.advance(HOUR_MS);
  for (let hour = 1; hour <= hours; hour++) {
    const evicted = truth.evictions.length;
    simulation.ledger.rows.length = 0;
    fail(simulation, members[hour % members.length] ?? "");
    await simulation.advance(HOUR_MS);
    const unsettled = judgeConverged(truth, members).map(
      ({ oracle, says }) => `${oracle}: ${says}`,
    );
    yield {
      hour,
      objects: countObjects(simulation),
      writes: simulation.ledger.rows.length,
      moves: truth.evictions.length - evicted,
      broken: [...broken, ...unsettled],
    };
    broken = [];
  }
}

function fail(simulation: Simulation, member: string): void {
  const conditions = { down: true };
  arrangeFault(
    simulation,
    { fault: "link", link: member, from: FAILS_AT, until: RETURNS_AT, conditions },
    () => undefined,
  );
}

function soakScenario({ members, workloads }: SoakSize): Scenario {
  const names = Array.from({ length: members }, (_, i) => `m${i + 1}`);
  const steps = Array.from({ length: workloads }, (_, i) => workloadSteps(`w${i + 1}`)).flat();
  return {
    name: "soak",
    seed: 1,
    members: names,
    failover: true,
    steps: [...steps, taintPolicy(60, 60)],
    faults: [],
  };
}

function workloadSteps(name: string): readonly Step[] {
  const of = { kind: "Deployment", name } as const;
  return [
    { at: 0, do: "workload", ...of, replicas: 2 },
    { at: 0, do: "policy", name, selects: [of], oneCopy: true },
  ];
}

function countObjects({ ledger }: Simulation): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const server of ledger.servers())
    for (const { table } of ledger.all(server)) {
      const place = `${server === "plane" ? "plane" : "members"} ${table}`;
      counts.set(place, (counts.get(place) ?? 0) + 1);
    }
  return counts;
}
