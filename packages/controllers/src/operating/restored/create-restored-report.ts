/**
 * After a restore, until a person agrees: reports on the fleet's record which copies in members have no Work in the restored
 * state, so that the person can see what the restored control plane does not know. It only reads members.
 *
 * It also keeps the marks on Pull clusters, by which their agents know of the hold.
 *
 * Every kind that a member offers is listed by our mark, not only kinds that a Work of the restored state holds.
 */
import {
  type Cluster,
  findCondition,
  type ObjectKey,
  setCondition,
  type Work,
} from "@lifeboat/api";
import { addMs } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import {
  isHeldByRestore,
  type MemberSurvey,
  UNKNOWN_COPIES,
  unknownCopiesCondition,
} from "@lifeboat/core/propagation/brake";
import {
  checkAgainAt,
  type Client,
  createController,
  done,
  type Informer,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { discover } from "../../context/discovery/discovered.ts";
import { swapRecordStatus } from "../../context/fleet-record.ts";
import { markClusters } from "./hold-deletions.ts";

const AGAIN_MS = 60_000;
/** Of one kind in one member; what is beyond is not read. */
const MAX_LISTED = 5000;

/** Builds the report; at rest, with no restore to agree to, it does nothing. */
export function createRestoredReport(context: PlaneContext): Service {
  const { informers, clock } = context;
  return createController(context, {
    name: "restored-report",
    concurrency: 1,
    watches: [
      watching(informers.evacuationBudgets, ownKey),
      whenSynced(informers.works),
      whenSynced(informers.clusters),
    ],
    reconcile: async (key, signal) => {
      const isHeld = isHeldByRestore(informers.evacuationBudgets.get(key), clock.now());
      await markClusters(context.plane, informers.clusters.list(), isHeld, { signal });
      return isHeld ? report(context, signal) : done;
    },
  });
}

/** Nothing is judged before it is known which Works and Clusters there are. */
function whenSynced<T extends Cluster | Work>(informer: Informer<T>) {
  return watching(informer, () => [] as ObjectKey[]);
}

async function report(context: PlaneContext, signal: AbortSignal): Promise<Outcome> {
  const { clock, informers, plane } = context;
  const surveys = await Promise.all(
    [...informers.clusters.list()].map(({ metadata }) => survey(context, metadata.name, signal)),
  );
  signal.throwIfAborted();
  const condition = unknownCopiesCondition(surveys);
  await swapRecordStatus(
    plane,
    (record) => {
      const { status } = record;
      const shown = findCondition(status?.conditions, UNKNOWN_COPIES);
      const isSame = shown?.message === condition.message && shown.status === condition.status;
      if (isSame || !isHeldByRestore(record, clock.now())) return { answer: undefined };
      const conditions = setCondition(status?.conditions, condition, clock.now());
      return { status: { ...status, conditions }, answer: undefined };
    },
    { signal },
  );
  return checkAgainAt(addMs(clock.now(), AGAIN_MS));
}

async function survey(
  { connections, informers, log }: PlaneContext,
  cluster: string,
  signal: AbortSignal,
): Promise<MemberSurvey> {
  const connection = connections.of(cluster);
  if (connection.kind !== "connected") return { cluster, unknown: undefined };
  try {
    const found = await marked(connection.client, signal);
    const isUnknown = ({ work }: Marked): boolean =>
      work !== undefined && informers.works.get(work) === undefined;
    return { cluster, unknown: found.filter(isUnknown).map(({ text }) => text) };
  } catch (error) {
    if (signal.aborted) throw error;
    log.info("a member could not be read after a restore", { cluster, error });
    return { cluster, unknown: undefined };
  }
}

interface Marked {
  /** `Deployment shop/web`. */
  readonly text: string;
  /** The Work that it names. */
  readonly work: ObjectKey | undefined;
}

/** Everything in a member that bears our mark. */
async function marked(member: Client, signal: AbortSignal): Promise<readonly Marked[]> {
  const { resources } = await discover(member, { signal });
  const found: Marked[] = [];
  for (const resource of resources) {
    if (!resource.preferred || !resource.verbs.includes("list")) continue;
    const { items } = await member.list(resource, {
      labelSelector: `${wellKnown.MANAGED}=true`,
      limit: MAX_LISTED,
      signal,
    });
    for (const { metadata } of items) {
      const namespace = metadata.annotations?.[wellKnown.WORK_NAMESPACE];
      const name = metadata.annotations?.[wellKnown.WORK_NAME];
      const place = metadata.namespace === undefined ? "" : `${metadata.namespace}/`;
      found.push({
        text: `${resource.kind} ${place}${metadata.name}`,
        work: namespace === undefined || name === undefined ? undefined : { namespace, name },
      });
    }
  }
  return found;
}
