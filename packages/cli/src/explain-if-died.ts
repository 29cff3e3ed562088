/**
 * The rest of `lifeboat explain`: what would become of the workload if one of its clusters died now, and what the history tells of it.
 * Also reads what that takes from the control plane.
 */
import {
  clusterTaintPolicies,
  humanDuration,
  type LedgerEntry,
  ledgerSlices,
  type ResourceBinding,
  Refused,
} from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { discover, readRecord } from "@lifeboat/controllers/context";
import { clusterNamesOf } from "@lifeboat/core/binding";
import { readLedger } from "@lifeboat/core/history";
import { decideIfDied, type IfDied, type IfDiedView, sharesOf } from "@lifeboat/core/operating";
import { clusterOfWork } from "@lifeboat/core/propagation/works";
import type { Client } from "@lifeboat/kit";
import { foresightSettingsOf } from "@lifeboat/plane";
import { publishedControllers } from "./controller-options.ts";
import type { FailoverView } from "./explain-failover.ts";
import { CommandFailed } from "./failure.ts";
import { kindsMeantBy, type NamedWorkload } from "./find-binding.ts";
import { historyLines } from "./history/history-text.ts";
import { policyOf, templateOf } from "./read-workload.ts";
import { hanging } from "./wrap.ts";

/** Everything beside the placement that is explained. */
export interface Foresight {
  readonly ifDied: readonly IfDied[];
  /** Of the workload, oldest first. */
  readonly history: readonly LedgerEntry[];
}

const SHOWN_ENTRIES = 8;

/** Decides what would happen for each cluster that the workload is in. */
export async function foresee(
  plane: Client,
  found: FailoverView & { readonly bindings: readonly ResourceBinding[] },
  now: Instant,
): Promise<Foresight> {
  const { binding } = found;
  const template = await templateOf(plane, binding);
  const policy = await policyOf(plane, binding);
  const { items: taintPolicies } = await plane.list(clusterTaintPolicies);
  const budget = await readRecord(plane);
  const base: Omit<IfDiedView, "cluster" | "work"> = {
    binding,
    template: template as IfDiedView["template"],
    policy,
    clusters: found.clusters,
    bindings: found.bindings,
    taintPolicies,
    budget: budget?.spec,
    ...foresightSettingsOf(publishedControllers(found.settings)),
  };
  const ifDied = clusterNamesOf(binding).map((cluster) => {
    const work = found.works.find((one) => clusterOfWork(one) === cluster);
    return decideIfDied({ ...base, cluster, work }, now);
  });
  const all = readLedger((await plane.list(ledgerSlices)).items);
  const history = all.filter(({ subject }) => subject.uid === binding.metadata.uid);
  return { ifDied, history };
}

/** Why there is no binding: the object is not there, or no policy claims it. */
export async function whyNoBinding(plane: Client, named: NamedWorkload): Promise<CommandFailed> {
  const { kind, name, namespace } = named;
  const meant = kindsMeantBy(kind);
  const { resources } = await discover(plane);
  const resource = resources.find((one) => meant.has(one.kind.toLowerCase()));
  if (resource === undefined)
    return new CommandFailed(
      `the control plane has no kind "${kind}": deployment/web is an example`,
    );
  const place = resource.namespaced ? ` in the namespace "${namespace}" (-n NAME)` : "";
  const key = { namespace: resource.namespaced ? namespace : "", name };
  try {
    await plane.get(resource, key);
  } catch (error) {
    if (!(error instanceof Refused) || error.status.code !== 404) throw error;
    return new CommandFailed(`there is no ${resource.kind} "${name}"${place}`);
  }
  return new CommandFailed(
    `no policy claims ${resource.kind} "${name}"${place}: it stays on the control plane until a PropagationPolicy selects it`,
  );
}

/** The lines for people, at most 80 columns. */
export function foresightLines({ ifDied, history }: Foresight): readonly string[] {
  const parts = ifDied.flatMap((one) => ["", ...ifDiedLines(one)]);
  if (history.length === 0) return parts;
  const shown = history.slice(-SHOWN_ENTRIES);
  const left = history.length - shown.length;
  const more = left === 0 ? "" : ` (the last ${shown.length} of ${history.length})`;
  return [...parts, "", `History${more}:`, ...historyLines(shown)];
}

function ifDiedLines(one: IfDied): readonly string[] {
  return [
    ...hanging(`If ${one.cluster} died: `, verdict(one)),
    ...one.preconditions.flatMap(({ name, holds, text }) =>
      hanging(`  ${holds ? "✓" : "✗"} ${name.padEnd(9)}`, text),
    ),
  ];
}

function verdict({ moves, leavesAfterMs, targets, preconditions }: IfDied): string {
  const after = leavesAfterMs === undefined ? "" : ` after ${humanDuration(leavesAfterMs)}`;
  if (moves) return `it moves to ${sharesOf(targets)}${after} at the earliest.`;
  const missing = preconditions.filter(({ holds }) => !holds).map(({ name }) => name);
  const to = sharesOf(targets);
  switch (missing.join()) {
    case "fence":
      return `it leaves${after} at the earliest, and starts on ${to} once it is fenced.`;
    case "approval":
      return `it moves to ${to}${after} at the earliest, once a person approves it.`;
    case "approval,fence":
      return `it leaves${after} at the earliest, once a person approves it, and starts on ${to} once it is fenced.`;
    default:
      return `it stays there: ${missing.join(", ")}.`;
  }
}
