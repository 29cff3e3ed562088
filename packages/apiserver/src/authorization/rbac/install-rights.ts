/**
 * Puts default roles and bindings into a server: what is missing is created, what lacks rules or subjects gets them.
 *
 * 1. Repeating it changes nothing. Rules and subjects that were added by others stay.
 * 2. A role or binding with the annotation `rbac.authorization.kubernetes.io/autoupdate: "false"` is left as it is.
 * 3. Gathered rules (`aggregationRule`) are computed here too, so that they are right before housekeeping runs.
 */
import { anew } from "@lifeboat/base";
import { type AnyObject, equalJson, isRefused, type New, type Resource } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { aggregatedRules } from "./aggregation.ts";
import { rbacResource, rulesIn } from "./resources.ts";
import type { Subject } from "./rights.ts";

const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";
const BOOTSTRAPPING = { "kubernetes.io/bootstrapping": "rbac-defaults" };
const MOST_ROUNDS = 10;

/** Installs roles and bindings; the client must be allowed everything. */
export async function installRights(
  client: Client,
  objects: readonly New<AnyObject>[],
): Promise<void> {
  await Promise.all(objects.map((object) => install(client, marked(object))));
  await aggregate(client);
}

/** Brings the rules of all aggregated roles up to date. A role may gather one that gathers: a few rounds settle it. */
async function aggregate(client: Client): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { items } = await client.list(CLUSTER_ROLES);
    const stale = items.flatMap((role) => {
      const rules = aggregatedRules(role, items);
      return rules === undefined ? [] : [{ ...role, rules }];
    });
    if (stale.length === 0) return;
    await Promise.all(stale.map((role) => updateIfFresh(client, CLUSTER_ROLES, role)));
  }
}

const CLUSTER_ROLES = rbacResource("ClusterRole");

function marked(object: New<AnyObject>): New<AnyObject> {
  const { metadata } = object;
  const annotations = { [AUTO_UPDATE]: "true", ...metadata.annotations };
  const labels = { ...BOOTSTRAPPING, ...metadata.labels };
  return { ...anew, ...object, metadata: { ...anew, ...metadata, labels, annotations } };
}

async function install(client: Client, wanted: New<AnyObject>): Promise<void> {
  const kind = String(wanted["kind"]);
  const reconcile = kind.endsWith("Binding") ? withSubjects : withRules;
  const resource = rbacResource(kind);
  const { name = "", namespace = "" } = wanted.metadata;
  for (;;) {
    try {
      const found = await client.get(resource, { namespace, name });
      if (found.metadata.annotations?.[AUTO_UPDATE] === "false") return;
      const next = withMarks(reconcile(found, wanted), wanted);
      if (!equalJson(next, found)) await replaceOrUpdate(client, resource, found, next);
      return;
    } catch (error) {
      if (isRefused(error, "Conflict")) continue;
      if (!isRefused(error, "NotFound")) throw error;
    }
    try {
      await client.create(resource, wanted);
      return;
    } catch (error) {
      // Another client installs at the same time: read what it wrote.
      if (!isRefused(error, "AlreadyExists")) throw error;
    }
  }
}

/** A binding to another role cannot be changed to this one: it gives way. */
async function replaceOrUpdate(
  client: Client,
  resource: Resource,
  found: AnyObject,
  next: AnyObject,
): Promise<void> {
  if (equalJson(found["roleRef"] ?? null, next["roleRef"] ?? null)) {
    await client.update(resource, next);
    return;
  }
  const { name, namespace = "", uid } = found.metadata;
  await client.delete(resource, { namespace, name }, { preconditions: { uid } });
  const { uid: _, resourceVersion: __, creationTimestamp: ___, ...metadata } = next.metadata;
  await client.create(resource, { ...next, metadata });
}

async function updateIfFresh(client: Client, resource: Resource, object: AnyObject): Promise<void> {
  try {
    await client.update(resource, object);
  } catch (error) {
    // The next round reads what others wrote.
    if (!isRefused(error, "Conflict") && !isRefused(error, "NotFound")) throw error;
  }
}

/** Labels and annotations that the default has and the object lacks; an annotation that is there stays. */
function withMarks(object: AnyObject, wanted: New<AnyObject>): AnyObject {
  const labels = { ...object.metadata.labels, ...wanted.metadata.labels };
  const annotations = { ...wanted.metadata.annotations, ...object.metadata.annotations };
  return { ...anew, ...object, metadata: { ...anew, ...object.metadata, labels, annotations } };
}

/** A role that gathers has no rules of its own; others get those that no rule of theirs is equal to. */
function withRules(found: AnyObject, wanted: New<AnyObject>): AnyObject {
  if (wanted["aggregationRule"] !== undefined)
    return { ...found, aggregationRule: wanted["aggregationRule"] };
  const rules = rulesIn(found);
  const missing = rulesIn(wanted as AnyObject).filter(
    (rule) => !rules.some((one) => equalJson(one, rule)),
  );
  return missing.length === 0 ? found : { ...found, rules: [...rules, ...missing] };
}

function withSubjects(found: AnyObject, wanted: New<AnyObject>): AnyObject {
  const subjects = (found["subjects"] ?? []) as readonly Subject[];
  const missing = (wanted["subjects"] as readonly Subject[]).filter(
    ({ kind, name, namespace }) =>
      !subjects.some(
        (one) => one.kind === kind && one.name === name && one.namespace === namespace,
      ),
  );
  const roleRef = wanted["roleRef"];
  return { ...found, roleRef, ...(missing.length > 0 && { subjects: [...subjects, ...missing] }) };
}
