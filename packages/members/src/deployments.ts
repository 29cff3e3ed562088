/** The controller of Deployments: carries out what `decideDeployment` says about their ReplicaSets. */
import { formatKey, type ObjectKey, orNothing } from "@lifeboat/api";
import { addMs, type Instant } from "@lifeboat/base";
import {
  checkAgainAt,
  type Controller,
  createController,
  done,
  type Outcome,
  ownKey,
  watching,
} from "@lifeboat/kit";
import { Expectations } from "./expectations.ts";
import * as kinds from "./kinds.ts";
import { BY_OWNER, type Member } from "./member.ts";
import { decideDeployment, REVISION } from "./model/deployment.ts";
import { controllerKeys } from "./model/pods.ts";
import { timeOf } from "./model/status.ts";

const CONCURRENCY = 4;
const FIRST_REPORT_MS = 2000;

export function createDeployments(member: Member): Controller {
  const { ports, client, deployments, replicaSets, pods } = member;
  const expectations = new Expectations(ports.clock, replicaSets);
  return createController(ports, {
    name: "deployment",
    concurrency: CONCURRENCY,
    watches: [
      watching(deployments, ownKey),
      watching(replicaSets, (old, now) => controllerKeys("Deployment", old, now)),
      // The last pod of an old ReplicaSet lets a Deployment with the strategy Recreate go on.
      watching(pods, (old, now) => (now === undefined ? deploymentKeys(member, old) : [])),
    ],
    reconcile: async (key): Promise<Outcome> => {
      const deployment = deployments.get(key);
      const early = expectations.tooEarly(formatKey(key));
      if (deployment === undefined) return done;
      if (early !== undefined) return early;
      const owned = replicaSets.byIndex(BY_OWNER, deployment.metadata.uid);
      const busy = owned.filter((set) => pods.byIndex(BY_OWNER, set.metadata.uid).length > 0);
      const withPods = new Set(busy.map((set) => set.metadata.uid));
      const view = { deployment, replicaSets: owned, withPods };
      const plan = decideDeployment(view, ports.clock.now());
      const wrote = (set: kinds.ReplicaSet | undefined): void => {
        if (set !== undefined) expectations.wrote(formatKey(key), set);
      };
      if (plan.create !== undefined) {
        wrote(await client.create(kinds.replicaSets, plan.create));
        // Its event brings the next look, which has something to report.
        return done;
      }
      for (const set of plan.update) wrote(await orNothing(client.update(kinds.replicaSets, set)));
      for (const set of plan.remove) wrote(await member.remove(kinds.replicaSets, set));
      const reportsBy = firstReportBy(owned);
      if (reportsBy !== undefined && reportsBy > ports.clock.now()) return checkAgainAt(reportsBy);
      const shown = withRevision(deployment, plan.revision);
      await member.report(kinds.deployments, shown, plan.status, shown !== deployment);
      return plan.checkAgainAt === undefined ? done : checkAgainAt(plan.checkAgainAt);
    },
  });
}

/**
 * Until when a new ReplicaSet has time for its first report, which comes with its pods in a moment and changes the status
 * of the Deployment once more: one write says both. Undefined when every one has reported.
 */
function firstReportBy(sets: readonly kinds.ReplicaSet[]): Instant | undefined {
  const fresh = sets.find(({ status }) => status?.observedGeneration === undefined);
  const born = timeOf(fresh?.metadata.creationTimestamp);
  return born === undefined ? undefined : addMs(born, FIRST_REPORT_MS);
}

/** The status of a Deployment carries its annotations along, which counts as no new generation. */
function withRevision(
  deployment: kinds.Deployment,
  revision: string | undefined,
): kinds.Deployment {
  if (revision === undefined) return deployment;
  const annotations = { ...deployment.metadata.annotations, [REVISION]: revision };
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

function deploymentKeys(member: Member, pod: kinds.Pod | undefined): readonly ObjectKey[] {
  return controllerKeys("ReplicaSet", undefined, pod).flatMap((key) =>
    controllerKeys("Deployment", undefined, member.replicaSets.get(key)),
  );
}
