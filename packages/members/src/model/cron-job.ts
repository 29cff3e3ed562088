/** What a CronJob reports about the Jobs it owns. Nothing is started by its schedule here. */
import { apiVersionOf } from "@lifeboat/api";
import { type CronJob, type CronJobStatus, type Job, jobs as jobsResource } from "../kinds.ts";
import { compareTexts } from "./pods.ts";
import { isTrue } from "./status.ts";

/** The status of a CronJob that owns these Jobs. Pure. */
export function decideCronJob(cronJob: CronJob, owned: readonly Job[]): CronJobStatus {
  const running = owned
    .filter((job) => !isTrue(job.status?.conditions, "Complete"))
    .filter((job) => !isTrue(job.status?.conditions, "Failed"))
    .sort((a, b) => compareTexts(a.metadata.name, b.metadata.name));
  const ended = owned
    .map((job) => job.status?.completionTime ?? "")
    .concat(cronJob.status?.lastSuccessfulTime ?? "")
    .sort(compareTexts);
  const latest = ended.at(-1) ?? "";
  return {
    ...cronJob.status,
    active: running.map(({ metadata }) => ({
      apiVersion: apiVersionOf(jobsResource),
      kind: jobsResource.kind,
      name: metadata.name,
      uid: metadata.uid,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    })),
    ...(latest !== "" && { lastSuccessfulTime: latest }),
  };
}
