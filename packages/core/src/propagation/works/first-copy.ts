/**
 * Whether a Work that was never applied is to be applied in its cluster now (D10, D26): one rule for Push and Pull.
 *
 *   Push   execution reads the binding from the server and asks `judgeFirstCopy`
 *   Pull   the control plane does that, and writes the outcome on the Work: the annotation `lifeboat.dev/endorsed` holds the
 *          uid of the Work. An agent reads no binding; it reads the Work and asks `isEndorsed`
 *
 * 1. A Work that names no binding (made by hand, or of a Namespace) is applied as it is, and needs no endorsement.
 * 2. Only the result of the binding counts, and the results of workloads that need the resource. A cluster that a workload leaves
 *    gets no first copy.
 * 3. The uid makes an endorsement valid for one Work: a Work that was deleted and made again needs a new one.
 * 4. A Work is endorsed only while it is on the server: so every later eviction finds it there and waits for it. A request
 *    to make a Work carries no endorsement, however late it arrives.
 * 5. A Work that was tried needs none, because its copy may exist: an endorsement costs a write only where it matters.
 */
import {
  type Cluster,
  findCondition,
  type ObjectKey,
  type ResourceBinding,
  type Work,
} from "@lifeboat/api";
import { agentSupport } from "../../clusters/agents/agents.ts";
import {
  BINDING_NAME,
  BINDING_NAMESPACE,
  CLUSTER_BINDING_NAME,
  ENDORSED,
} from "../../well-known.ts";
import { workClustersOf } from "./work-clusters.ts";

/** `orphaned`: the binding that the Work names does not exist, so nothing else removes the Work. */
export type FirstCopyVerdict = "wanted" | "unwanted" | "orphaned";

export interface FirstCopyView {
  readonly cluster: string;
  readonly work: Work;
  /** The binding that the Work names, as the server has it; undefined: there is none. */
  readonly binding: ResourceBinding | undefined;
}

/** Whether a Work is to be applied for the first time. */
export function judgeFirstCopy({ cluster, work, binding }: FirstCopyView): FirstCopyVerdict {
  if (bindingKeyOf(work.metadata.annotations) === undefined) return "wanted";
  if (binding === undefined) return "orphaned";
  return workClustersOf(binding).wanted.has(cluster) ? "wanted" : "unwanted";
}

/** Whether the Work itself shows that it is to be applied for the first time, to a reader that reads no bindings. */
export function isEndorsed({ metadata }: Work): boolean {
  const { annotations, uid, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) return false;
  return bindingKeyOf(annotations) === undefined || annotations?.[ENDORSED] === uid;
}

/** Whether the Work was ever tried: then it was judged before. */
export function wasTried({ status }: Work): boolean {
  return findCondition(status?.conditions, "Applied") !== undefined;
}

/**
 * The value of the annotation that a Work of this cluster is to bear; undefined: none. An agent that knows no endorsement gets
 * none; while nothing is known about the agent, what was given stays.
 */
export function endorsementOf(
  view: FirstCopyView,
  cluster: Pick<Cluster, "spec" | "status">,
): string | undefined {
  const { work } = view;
  const { uid, annotations } = work.metadata;
  if (cluster.spec.syncMode !== "Pull" || judgeFirstCopy(view) !== "wanted") return undefined;
  const support = agentSupport(cluster);
  // A Work that was tried is left alone: its copy may exist, and a write would change nothing.
  if (annotations?.[ENDORSED] === uid)
    return support !== "unsupported" || wasTried(work) ? uid : undefined;
  return support === "supported" && !wasTried(work) ? uid : undefined;
}

/** The Work without its endorsement; the same object when it bears none. */
export function withdrawn(work: Work): Work {
  const { [ENDORSED]: former, ...annotations } = work.metadata.annotations ?? {};
  if (former === undefined) return work;
  return { ...work, metadata: { ...work.metadata, annotations } };
}

/** The binding that the annotations of a Work, or of a copy, name. */
export function bindingKeyOf(
  annotations: Readonly<Record<string, string>> = {},
): ObjectKey | undefined {
  const fleetwide = annotations[CLUSTER_BINDING_NAME];
  if (fleetwide !== undefined) return { namespace: "", name: fleetwide };
  const namespace = annotations[BINDING_NAMESPACE];
  const name = annotations[BINDING_NAME];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}
