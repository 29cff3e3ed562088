/**
 * The controllers of the kinds that own pods: ReplicaSets, StatefulSets, DaemonSets and Jobs. They differ in what they
 * decide; what is done about it is the same: pods are deleted, then created, and when nothing is left to do the status
 * is written.
 *
 * A pod whose node is known at its birth is created with it, which saves the write of a binding.
 */
import { formatKey, isRefused, type KubeObject, type Resource } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import {
  checkAgainAt,
  type Controller,
  createController,
  done,
  type Informer,
  type Outcome,
  ownKey,
  watching,
} from "@lifeboat/kit";
import { Expectations } from "./expectations.ts";
import * as kinds from "./kinds.ts";
import { BY_OWNER, type Member } from "./member.ts";
import { decideDaemonSet } from "./model/daemon-set.ts";
import { decideJob } from "./model/job.ts";
import { controllerKeys, type PodsPlan } from "./model/pods.ts";
import { decideReplicaSet } from "./model/replica-set.ts";
import { claimsFor, decideStatefulSet } from "./model/stateful-set.ts";

interface PodOwner extends KubeObject {
  readonly status?: unknown;
}

interface OwnerKind<T extends PodOwner> {
  readonly name: string;
  readonly resource: Resource<T>;
  readonly informer: Informer<T>;
  readonly decide: (
    owner: T,
    pods: readonly kinds.Pod[],
    now: Instant,
  ) => PodsPlan<T["status"]> & { readonly expired?: boolean };
  /** What must be there before a pod. */
  readonly before?: (owner: T, pod: kinds.NewPod) => Promise<void>;
  /** Whether every change of a node concerns every object of the kind. */
  readonly followsNodes?: boolean;
}

const CONCURRENCY = 4;

/** The four controllers. */
export function createPodOwners(member: Member): readonly Controller[] {
  const { replicaSets, statefulSets, daemonSets, jobs } = member;
  return [
    podOwner(member, {
      name: "replica-set",
      resource: kinds.replicaSets,
      informer: replicaSets,
      decide: decideReplicaSet,
    }),
    podOwner(member, {
      name: "stateful-set",
      resource: kinds.statefulSets,
      informer: statefulSets,
      decide: decideStatefulSet,
      before: (set, pod) => createClaims(member, set, pod),
    }),
    podOwner(member, {
      name: "daemon-set",
      resource: kinds.daemonSets,
      informer: daemonSets,
      decide: (set, pods, now) => decideDaemonSet(set, pods, member.nodes.list(), now),
      followsNodes: true,
    }),
    podOwner(member, { name: "job", resource: kinds.jobs, informer: jobs, decide: decideJob }),
  ];
}

function podOwner<T extends PodOwner>(member: Member, kind: OwnerKind<T>): Controller {
  const { ports, pods, nodes } = member;
  const { informer, resource } = kind;
  const expectations = new Expectations(ports.clock, pods);
  return createController(ports, {
    name: kind.name,
    concurrency: CONCURRENCY,
    watches: [
      member.nodesReady(),
      watching(informer, ownKey),
      watching(pods, (old, now) => controllerKeys(resource.kind, old, now)),
      watching(nodes, (old, now) =>
        kind.followsNodes === true && concernsPlaces(old, now)
          ? informer.list().flatMap((owner) => ownKey(undefined, owner))
          : [],
      ),
    ],
    reconcile: async (key): Promise<Outcome> => {
      const text = formatKey(key);
      const owner = informer.get(key);
      const early = expectations.tooEarly(text);
      if (owner === undefined) return done;
      if (early !== undefined) return early;
      const plan = kind.decide(
        owner,
        pods.byIndex(BY_OWNER, owner.metadata.uid),
        ports.clock.now(),
      );
      for (const pod of plan.remove) {
        const left = await member.remove(kinds.pods, pod);
        if (left !== undefined) expectations.wrote(text, left);
      }
      for (const pod of plan.create) {
        await kind.before?.(owner, pod);
        expectations.wrote(text, await createPod(member, pod));
      }
      // What was just done is not counted yet: its events bring the look that reports it, in one write.
      const isQuiet = plan.create.length === 0 && plan.remove.length === 0;
      if (plan.expired === true) await member.remove(resource, owner);
      else if (isQuiet) await member.report(resource, owner, plan.status);
      return plan.checkAgainAt === undefined ? done : checkAgainAt(plan.checkAgainAt);
    },
  });
}

/** Creates a pod, on a node at once where there is room. */
async function createPod(member: Member, pod: kinds.NewPod): Promise<kinds.Pod> {
  if (pod.spec.nodeName !== undefined) return member.client.create(kinds.pods, pod);
  const placement = member.place(pod);
  if (placement.kind === "none") return member.client.create(kinds.pods, pod);
  try {
    const spec = { ...pod.spec, nodeName: placement.name };
    return await member.client.create(kinds.pods, { ...pod, spec });
  } catch (error) {
    member.free(pod);
    throw error;
  }
}

async function createClaims(
  member: Member,
  set: kinds.StatefulSet,
  pod: kinds.NewPod,
): Promise<void> {
  for (const claim of claimsFor(set, pod)) {
    const { name, namespace } = claim.metadata;
    if (member.claims.get({ namespace, name }) !== undefined) continue;
    try {
      await member.client.create(kinds.claims, claim);
    } catch (error) {
      if (!isRefused(error, "AlreadyExists")) throw error;
    }
  }
}

/** Whether a change of a node can change which DaemonSets want a pod there. */
function concernsPlaces(old: kinds.Node | undefined, now: kinds.Node | undefined): boolean {
  if (old === undefined || now === undefined) return true;
  return JSON.stringify(old.metadata.labels) !== JSON.stringify(now.metadata.labels);
}
