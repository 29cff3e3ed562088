/** What the benchmark and its child processes tell each other. */

export interface ClusterAccess {
  readonly name: string;
  /** The file of the kubeconfig that registration wrote. */
  readonly kubeconfig: string;
}

export type ToChild =
  | { readonly kind: "start"; readonly clusters: readonly ClusterAccess[] }
  /** Count from now on. */
  | { readonly kind: "count" }
  | { readonly kind: "stop" };

export interface HonestReport {
  readonly kind: "honest";
  readonly renewals: number;
  readonly failures: number;
  /** How long each renewal took. */
  readonly latenciesMs: readonly number[];
  /** The longest time between two renewals that went well, of each agent. */
  readonly longestGapsMs: readonly number[];
}

export interface FloodReport {
  readonly kind: "flood";
  /** Answers by code. */
  readonly answers: Readonly<Record<string, number>>;
}

export type FromChild = { readonly kind: "ready" } | HonestReport | FloodReport;
