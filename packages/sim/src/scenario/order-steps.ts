/** What people order about evacuations: approvals, pauses of clusters and namespaces, a rate for a time (D6, D30). */
import { type EvacuationBudget, evacuationBudgets, evacuations, FLEET_BUDGET } from "@lifeboat/api";
import { addMs, formatTime } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";
import type { Simulation } from "../simulation.ts";
import { ifThere, merge } from "./writing.ts";

export type OrderStep =
  | {
      /** A person approves what waits in the evacuations of a member. */
      readonly do: "approve";
      readonly member: string;
      /** Only this namespace. */
      readonly namespace?: string;
    }
  | {
      /** A person pauses a cluster or a namespace, or lets it go on: these and no others. */
      readonly do: "pause-some";
      readonly clusters?: readonly string[];
      readonly namespaces?: readonly string[];
    }
  | {
      /** A person sets the rate for a time, in seconds. */
      readonly do: "set-rate";
      readonly perSecond: number;
      /** Only as an upper bound. */
      readonly atMost?: boolean;
      readonly lasts: number;
    };

export function takeOrderStep(simulation: Simulation, step: OrderStep): void {
  const now = simulation.clock.now();
  switch (step.do) {
    case "approve":
      return simulation.user((plane) => approve(plane, step, formatTime(now)));
    case "pause-some":
      return simulation.user((plane) =>
        order(plane, {
          pausedClusters: step.clusters ?? [],
          pausedNamespaces: step.namespaces ?? [],
        }),
      );
    case "set-rate":
      return simulation.user((plane) =>
        order(plane, {
          rateOverride: {
            perSecond: step.perSecond,
            ...(step.atMost === true && { atMost: true }),
            setAt: formatTime(now),
            until: formatTime(addMs(now, step.lasts * 1000)),
            reason: "a person",
          },
        }),
      );
  }
}

async function approve(
  plane: Client,
  { member, namespace }: OrderStep & { readonly do: "approve" },
  at: string,
): Promise<void> {
  const approvals = [{ at, ...(namespace !== undefined && { namespace }) }];
  for (const { metadata, spec } of (await plane.list(evacuations)).items)
    if (spec.cluster === member)
      await ifThere(() =>
        plane.patch(
          evacuations,
          { namespace: "", name: metadata.name },
          { type: "merge", body: { spec: { approvals } } },
        ),
      );
}

async function order(plane: Client, spec: Partial<EvacuationBudget["spec"]>): Promise<void> {
  const { group, version, kind } = evacuationBudgets;
  await merge(plane, evacuationBudgets, {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: FLEET_BUDGET },
    spec,
  });
}
