/**
 * Finds nodes for pods that were created without one, and says so when there is none.
 *
 * A pod that waits is looked at again when a pod goes or ends, or a node changes.
 */
import { isRefused, keyOf, type ObjectKey } from "@lifeboat/api";
import { type Controller, createController, done, type Outcome, watching } from "@lifeboat/kit";
import * as kinds from "./kinds.ts";
import { type Member, UNPLACED } from "./member.ts";
import { isFinished, isLeaving, nodeOf } from "./model/pods.ts";
import { withCondition } from "./model/status.ts";

const NOBODY: readonly ObjectKey[] = Object.freeze([]);

export function createScheduler(member: Member): Controller {
  const { ports, pods, nodes } = member;
  const waiting = (): readonly ObjectKey[] => pods.byIndex(UNPLACED, UNPLACED).map(keyOf);
  return createController(ports, {
    name: "scheduler",
    // One after the other, so that each choice knows of the one before.
    concurrency: 1,
    watches: [
      member.nodesReady(),
      watching(pods, (old, now) => {
        if (now === undefined || (isFinished(now) && old !== undefined && !isFinished(old)))
          return waiting();
        return nodeOf(now) === "" ? [keyOf(now)] : NOBODY;
      }),
      watching(nodes, waiting),
    ],
    reconcile: async (key): Promise<Outcome> => {
      const pod = pods.get(key);
      if (pod === undefined || nodeOf(pod) !== "" || isLeaving(pod) || isFinished(pod)) return done;
      await schedule(member, pod);
      return done;
    },
  });
}

async function schedule(member: Member, pod: kinds.Pod): Promise<void> {
  const key = keyOf(pod);
  const placement = member.place({ metadata: { ...pod.metadata, ...key }, spec: pod.spec });
  if (placement.kind === "none") {
    await reportUnschedulable(member, pod, placement.message);
    return;
  }
  try {
    await bind(member, pod, placement.name);
  } catch (error) {
    member.free({ metadata: { ...pod.metadata, ...key } });
    // The pod went meanwhile: nothing is left to be placed.
    if (!isRefused(error, "NotFound")) throw error;
  }
}

async function reportUnschedulable(member: Member, pod: kinds.Pod, message: string): Promise<void> {
  const condition = {
    type: "PodScheduled",
    status: "False",
    reason: "Unschedulable",
    message,
  } as const;
  const conditions = withCondition(pod.status?.conditions, condition, member.ports.clock.now());
  await member.report(kinds.pods, pod, { ...pod.status, conditions });
}

async function bind(member: Member, pod: kinds.Pod, node: string): Promise<void> {
  const { name, namespace, uid } = { namespace: "", ...pod.metadata };
  const metadata = { name, namespace, uid };
  await member.client.create(kinds.bindings, {
    apiVersion: "v1",
    kind: "Binding",
    // The uid makes sure that it is this pod and not its successor of the same name.
    metadata,
    target: { apiVersion: "v1", kind: "Node", name: node },
  });
}
