/** What people and other tools do about traffic: Remedies, ingresses, and what is reported about clusters. */
import {
  type AnyObject,
  type Cluster,
  clusters,
  multiClusterIngresses,
  type New,
  remedies,
} from "@lifeboat/api";
import { formatTime, unreachable } from "@lifeboat/base";
import { MASS_TRAFFIC_BLOCK } from "@lifeboat/core/remedy/actions";
import type { Simulation } from "../simulation.ts";
import { release } from "./on-call.ts";
import { ifThere, put } from "./writing.ts";

/** A comparison with a condition of a cluster. */
export interface Match {
  readonly condition: string;
  readonly operator: "Equal" | "NotEqual";
  readonly status: "True" | "False" | "Unknown";
}

export type TrafficStep =
  | {
      /** A later Remedy of the same name takes its place. */
      readonly do: "remedy";
      readonly name: string;
      /** Absent: all. */
      readonly clusters?: readonly string[];
      /** Any of them; absent: at once. */
      readonly matches?: readonly Match[];
      /** TrafficControl when absent. */
      readonly actions?: readonly string[];
    }
  | {
      /** A MultiClusterIngress; a later one of the same name takes its place. */
      readonly do: "ingress";
      readonly name: string;
      readonly services: readonly string[];
    }
  | {
      /** A tool reports a condition of a cluster, or withdraws its report. */
      readonly do: "report";
      readonly member: string;
      readonly condition: string;
      /** Absent: the condition goes. */
      readonly status?: "True" | "False" | "Unknown";
    }
  | {
      /** A person writes actions of Remedies on a cluster. */
      readonly do: "actions-by-hand";
      readonly member: string;
      readonly actions: readonly string[];
    }
  | {
      /** A person agrees to the blocks that the brake holds (D27), if it is on. */
      readonly do: "release-blocks";
    };

type Of<D extends TrafficStep["do"]> = Extract<TrafficStep, { readonly do: D }>;

/** Begins a step; it is done when the plane has taken it. */
export function takeTrafficStep(simulation: Simulation, step: TrafficStep): void {
  switch (step.do) {
    case "remedy":
      return simulation.user((plane) => put(plane, remedies, remedy(step)));
    case "ingress":
      return simulation.user((plane) => put(plane, multiClusterIngresses, ingress(step)));
    case "report":
      return report(simulation, step);
    case "actions-by-hand":
      return changeStatus(simulation, step.member, (status) => ({
        ...status,
        remedyActions: step.actions,
      }));
    case "release-blocks":
      return release(simulation, MASS_TRAFFIC_BLOCK);
    default:
      return unreachable(step);
  }
}

function remedy({
  name,
  clusters: clusterNames,
  matches,
  actions = ["TrafficControl"],
}: Of<"remedy">): New<AnyObject> {
  return {
    apiVersion: `${remedies.group}/${remedies.version}`,
    kind: remedies.kind,
    metadata: { name },
    spec: {
      ...(clusterNames !== undefined && { clusterAffinity: { clusterNames } }),
      ...(matches !== undefined && {
        decisionMatches: matches.map(({ condition, operator, status }) => ({
          clusterConditionMatch: {
            conditionType: condition,
            operator,
            conditionStatus: status,
          },
        })),
      }),
      actions,
    },
  };
}

function ingress({ name, services }: Of<"ingress">): New<AnyObject> {
  return {
    apiVersion: `${multiClusterIngresses.group}/${multiClusterIngresses.version}`,
    kind: multiClusterIngresses.kind,
    metadata: { name, namespace: "default" },
    spec: {
      rules: services.map((service) => ({
        host: `${service}.${name}.test`,
        http: {
          paths: [
            {
              path: "/",
              pathType: "Prefix",
              // The port of a Service that was not changed.
              backend: { service: { name: service, port: { number: 81 } } },
            },
          ],
        },
      })),
    },
  };
}

function report(simulation: Simulation, { member, condition, status }: Of<"report">): void {
  changeStatus(simulation, member, (before) => {
    const others = (before?.conditions ?? []).filter(({ type }) => type !== condition);
    const reported = {
      type: condition,
      status: status ?? "Unknown",
      reason: "Reported",
      message: "",
      lastTransitionTime: formatTime(simulation.clock.now()),
    };
    return { ...before, conditions: status === undefined ? others : [...others, reported] };
  });
}

type Status = Cluster["status"];

function changeStatus(
  simulation: Simulation,
  member: string,
  change: (before: Status) => Status,
): void {
  simulation.user((plane) =>
    ifThere(async () => {
      const cluster = await plane.get(clusters, { namespace: "", name: member });
      const status = change(cluster.status);
      await plane.update(clusters, { ...cluster, status } as typeof cluster, {
        subresource: "status",
      });
    }),
  );
}
