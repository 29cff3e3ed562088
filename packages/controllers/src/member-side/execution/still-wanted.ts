/**
 * Whether a Work is still wanted where it is (D10): asked of the server before an object comes into being.
 *
 * A Work that was sent when its workload still belonged to the cluster may arrive after the workload was evicted, and even
 * after that eviction was over: a network keeps a request for as long as it likes. Carried out, it would be a second copy.
 *
 * 1. Before a Work is applied for the first time, the plane's word about its binding is asked for (`PlaneWord`). In the control
 *    plane (Push) the binding is read from the server after the Work was seen (`askBindings`): if its result has the cluster,
 *    every later eviction finds the Work on the server and waits for it; if not, nothing is applied, and the Work is removed.
 *    An agent (Pull) reads no binding (D26): it reads the Work from the plane immediately before the first create, and the Work
 *    must be endorsed (`readEndorsements`). Cut off from the plane, an agent makes no first copy.
 *    A Work whose binding does not exist is removed here (Push) or by the plane (Pull): no other controller would.
 * 2. In the control plane one question suffices for the life of a Work. What was applied before needs none.
 * 3. A Work that names no binding is made by hand, and is carried out.
 * 4. An object that was there and is gone may have been removed by another set of controllers, because the Work is going,
 *    before that was seen here. It was marked as going before its object was removed; so a read of the Work after the
 *    object was missed shows the mark. The Work's status alone does not show whether it was tried: a report of a Work that
 *    goes is refused.
 * 5. So may an object that was applied and is another now have been changed: by another set of controllers that has seen a
 *    newer Work. A controller that put it back without asking would have it changed again, without end.
 * 6. And the object of a Work that goes may belong to another Work of the same name by now, which others made after this one
 *    was gone: nothing is removed before the Work was asked for by its uid.
 */
import {
  type AnyObject,
  type ObjectKey,
  orNothing,
  Refused,
  type Work,
  works,
} from "@lifeboat/api";
import {
  bindingKeyOf,
  type FirstCopyVerdict,
  isEndorsed,
  judgeFirstCopy,
  judgeStray,
  type StrayVerdict,
} from "@lifeboat/core/propagation/works";
import { type Client, NotSent, OutcomeUnknown, SharedRead } from "@lifeboat/kit";
import { type Binding, bindingResource } from "../../context/bindings.ts";
import { type HoldPorts, isClusterHeld, isHeld } from "./restore-hold.ts";

/** A copy in the member that bears our marks and has no Work. */
export interface StrayCopy {
  /** The Work that the copy names. */
  readonly work: ObjectKey;
  readonly copy: AnyObject;
  /** For how long it has been known that no Work holds the copy. */
  readonly seenForMs: number;
}

export interface JudgedStray {
  readonly verdict: StrayVerdict;
  /** The binding that the copy names, where the judge read it. */
  readonly binding?: Binding;
}

/** How execution learns what the plane decided about a Work's binding. */
export interface PlaneWord {
  /** Whether a Work that was never tried may be tried; `awaited`: not yet; a change of the Work brings the answer. */
  mayBegin(work: Work, signal: AbortSignal): Promise<FirstCopyVerdict | "awaited">;
  /** Asked immediately before the first create for a Work that was never tried. */
  mayCreate(work: Work, signal: AbortSignal): Promise<boolean>;
  judgeStray(stray: StrayCopy, signal: AbortSignal): Promise<JudgedStray>;
  /** Whether deletions in the member wait for a person, after a restore; asked immediately before each. */
  isHeld(signal: AbortSignal): Promise<boolean>;
}

/** For execution in the control plane, of one cluster: bindings are read from the server. */
export function askBindings(ports: HoldPorts, cluster: string): PlaneWord {
  const { plane } = ports;
  const held = new SharedRead((signal) => isHeld(ports, signal));
  return {
    isHeld: (signal) => held.read(signal),
    mayBegin: (work, signal) => askBinding(plane, cluster, work, signal),
    mayCreate: () => Promise.resolve(true),
    judgeStray: async ({ copy, seenForMs }, signal) => {
      const binding = await bindingOf(plane, copy.metadata.annotations, signal);
      if (binding === undefined) return { verdict: "leave" };
      return { verdict: judgeStray({ cluster, copy, binding, seenForMs }), binding };
    },
  };
}

/** For an agent: Works bear the answer, and stray copies are reported for the plane to judge. */
export function readEndorsements(
  plane: Client,
  cluster: string,
  report: (stray: StrayCopy) => void,
): PlaneWord {
  return {
    isHeld: (signal) => isClusterHeld(plane, cluster, signal),
    mayBegin: (work) => Promise.resolve(isEndorsed(work) ? "wanted" : "awaited"),
    mayCreate: async (work, signal) => {
      const now = await onServer(plane, work, signal);
      return now !== undefined && isSame(now, work) && isEndorsed(now);
    },
    judgeStray: (stray) => {
      report(stray);
      return Promise.resolve({ verdict: "wait" });
    },
  };
}

/** Asks the binding of a Work whether its workload belongs to the cluster. */
async function askBinding(
  plane: Client,
  cluster: string,
  work: Work,
  signal: AbortSignal,
): Promise<FirstCopyVerdict> {
  const binding = await bindingOf(plane, work.metadata.annotations, signal);
  return judgeFirstCopy({ cluster, work, binding });
}

async function bindingOf(
  plane: Client,
  annotations: Readonly<Record<string, string>> | undefined,
  signal: AbortSignal,
): Promise<Binding | undefined> {
  const key = bindingKeyOf(annotations);
  return key && orNothing(plane.get(bindingResource(key), key, { signal }));
}

/** Whether the server has the Work as it was seen, and it is not going. False also when the server does not answer. */
export async function isStillThere(
  plane: Client,
  work: Work,
  signal: AbortSignal,
): Promise<boolean> {
  const now = await onServer(plane, work, signal);
  return now !== undefined && isSame(now, work);
}

/** Whether a Work is as it was seen, and is not going. */
function isSame(
  { metadata: { generation, deletionTimestamp } }: Work,
  { metadata }: Work,
): boolean {
  return generation === metadata.generation && deletionTimestamp === undefined;
}

/** Whether the server has this very Work, going or not. False also when the server does not answer. */
export async function isSameWork(plane: Client, work: Work, signal: AbortSignal): Promise<boolean> {
  return (await onServer(plane, work, signal)) !== undefined;
}

/** This very Work as the server has it; undefined also when the server does not answer. */
async function onServer(
  plane: Client,
  { metadata: { namespace = "", name, uid } }: Work,
  signal: AbortSignal,
): Promise<Work | undefined> {
  try {
    const now = await plane.get(works, { namespace, name }, { signal });
    return now.metadata.uid === uid ? now : undefined;
  } catch (error) {
    if (error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown)
      return undefined;
    throw error;
  }
}
