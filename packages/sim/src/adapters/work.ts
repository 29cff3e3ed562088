/**
 * What the process that people start and its workers say to each other: a job there, and messages back until it is done.
 *
 * Everything is JSON. A message says also that the worker lives: one that says nothing for long is taken for dead.
 */
import type { RunSummary } from "../report.ts";
import type { Scenario } from "../scenario/scenario.ts";

/**
 * `pull`: as small, and some members pull. `traffic`: as small, with Remedies, ingresses and load balancers. `federated`: as small,
 * with federated StatefulSets and a DNS server.
 */
export type SizeName = "small" | "large" | "pull" | "traffic" | "federated";

export type Job =
  /** The random scenario of a seed; a broken one is made smaller if `explain` says so. */
  | {
      readonly job: "seed";
      readonly seed: number;
      readonly size: SizeName;
      readonly explain: boolean;
    }
  /** A golden scenario with faults at every `step`-th write from the `first` on; the first lane runs it undisturbed, too. */
  | {
      readonly job: "golden";
      readonly name: string;
      readonly first: number;
      readonly step: number;
    }
  /** A golden scenario with some pairs of deaths that the seed decides. */
  | {
      readonly job: "pairs";
      readonly name: string;
      readonly seed: number;
    };

export interface RunReport {
  /** For a person: `seed 7`, or the name of the scenario. */
  readonly what: string;
  readonly hash: string;
  readonly summary: RunSummary;
  /** Of a broken run: what to print, and the scenario to keep. */
  readonly broken?: { readonly text: string; readonly scenario: Scenario };
}

export type Message =
  | { readonly says: "run"; readonly report: RunReport }
  /** For people to read. */
  | { readonly says: "note"; readonly text: string }
  | { readonly says: "alive" }
  | { readonly says: "done"; readonly rssBytes: number };

/** A job in a few words, for a worker that dies over it. */
export function describeJob(job: Job): string {
  if (job.job === "seed") return `seed ${job.seed} (${job.size})`;
  if (job.job === "pairs") return `golden scenario ${job.name}, pairs of seed ${job.seed}`;
  return `golden scenario ${job.name}, writes ${job.first}, ${job.first + job.step} and so on`;
}
