/** The selector and labels by which a Job knows its pods, made from its uid, unless its author chose them by hand. */
import type { JsonObject } from "../../json.ts";
import type { AnyObject } from "../../object.ts";
import { part, partOf, text } from "./fields.ts";

const UID = "batch.kubernetes.io/controller-uid";
const NAME = "batch.kubernetes.io/job-name";
const OLD_UID = "controller-uid";
const OLD_NAME = "job-name";

/** Gives a new Job its selector, and its template the labels that match. The Job has a name and a uid. */
export function generateJobSelector(job: AnyObject): AnyObject {
  const object = job as unknown as JsonObject;
  const spec = partOf(object, "spec");
  if (spec["manualSelector"] === true) return job;
  const template = partOf(spec, "template");
  const metadata = partOf(template, "metadata");
  const own = partOf(object, "metadata");
  const uid = text(own, "uid");
  const name = text(own, "name");
  const labels = {
    [OLD_NAME]: name,
    [OLD_UID]: uid,
    ...part(metadata, "labels"),
    [NAME]: name,
    [UID]: uid,
  };
  const selector = partOf(spec, "selector");
  const prepared = {
    ...spec,
    selector: { ...selector, matchLabels: { ...part(selector, "matchLabels"), [UID]: uid } },
    template: { ...template, metadata: { ...metadata, labels } },
  };
  const shared = sharesLabels(own, metadata);
  return {
    ...job,
    metadata: shared ? { ...job.metadata, labels } : job.metadata,
    spec: prepared,
  };
}

/** A Job without labels of its own was given those of its template, and keeps step with them. */
function sharesLabels(own: JsonObject, template: JsonObject): boolean {
  const labels = part(own, "labels");
  return labels === undefined || labels === part(template, "labels");
}
