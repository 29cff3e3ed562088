/**
 * What the control plane makes for a federated StatefulSet: one Service per pod where the set asks for them, the policy that
 * places those of a cluster, the list of pods on the headless Service, and a ConfigMap with the same list for software that
 * reads no SRV records.
 *
 * 1. Sets may share a headless Service: it lists the pods of all.
 * 2. Everything follows from the record of shares: pods of dead clusters keep theirs, a removed replica loses its own.
 * 3. A Service is made only when the headless Service is there: its ports come from it.
 * 4. A policy is there before its Services, so that no other policy claims them first.
 * 5. A Service of a pod's name that another writer made is replaced, and an Event reports it. A ConfigMap is not: a user's
 *    settings may be in it, and the list can be read from the headless Service.
 * 6. The ConfigMap of a quorum also has how each pod comes to it, and under `leaving` what confirms the present departure.
 * 7. What is as it should be is not written.
 */
import {
  type AnyObject,
  equalJson,
  type KubeObject,
  type New,
  type ObjectMeta,
} from "@lifeboat/api";
import {
  compareText,
  type Fields,
  fieldsAt,
  isFields,
  listAt,
  textAt,
  valueAt,
  without,
} from "../../fields.ts";
import type { PlannedEvent } from "../../plan.ts";
import {
  FEDERATED_CLUSTER,
  FEDERATED_POD,
  FEDERATED_REPLICAS,
  FEDERATED_SERVICE_TYPE,
  FEDERATED_SERVICES,
  FEDERATED_SET,
} from "../../well-known.ts";
import { departureName, presentDeparture } from "../departure.ts";
import { type FederatedPod, idBase, peersName, podsOf, replicaList } from "../names.ts";
import type { FederatedRecord } from "../record.ts";
import { joiningState, startedShares } from "../start.ts";

export interface FederatedView {
  /** The StatefulSet in the control plane. */
  readonly set: AnyObject;
  readonly record: FederatedRecord;
  /** The Service that the set names; absent: there is none. */
  readonly headless?: AnyObject | undefined;
  /** All Services of the namespace that bear the label of the set, or the name of one of its pods. */
  readonly services: readonly AnyObject[];
  /** The policies of the namespace that bear the label of the set. */
  readonly policies: readonly KubeObject[];
  /** The object that has the name of the set's ConfigMap. */
  readonly peers?: AnyObject | undefined;
}

export type FederatedCommand =
  | { readonly kind: "create"; readonly of: FederatedKind; readonly object: New<AnyObject> }
  /** `object` bears the version it was decided on. */
  | { readonly kind: "update"; readonly of: FederatedKind; readonly object: AnyObject }
  | { readonly kind: "delete"; readonly of: FederatedKind; readonly object: KubeObject };

export type FederatedKind = "Service" | "PropagationPolicy" | "ConfigMap";

export interface FederatedPlan {
  readonly commands: readonly FederatedCommand[];
  /** About the StatefulSet. */
  readonly events: readonly PlannedEvent[];
}

/** Above what people choose: the Services of pods are placed by nothing else. */
const PRIORITY = 1_000_000;

/** Whether the set asks for one Service per pod. */
export function asksForServices(set: object): boolean {
  return textAt(set, "metadata", "annotations", FEDERATED_SERVICES) === "true";
}

/** What is to be made, changed and removed. */
export function decideFederated(view: FederatedView): FederatedPlan {
  const { set, record, headless } = view;
  const pods = podsOf(set.metadata.name, { shares: startedShares(record) });
  const wanted = asksForServices(set) ? pods : [];
  const events: PlannedEvent[] = [];
  return {
    commands: [
      ...policyCommands(view, new Set(wanted.map(({ cluster }) => cluster))),
      ...(headless === undefined && wanted.length > 0 ? [] : serviceCommands(view, wanted, events)),
      ...peersCommands(view, pods, events),
    ],
    events,
  };
}

/** A federated StatefulSet that names the headless Service. */
export interface GoverningSet {
  readonly name: string;
  readonly record: FederatedRecord;
  readonly asksForServices: boolean;
}

/** What is written on a headless Service for all sets that name it; without a set it is taken back. */
export function decideHeadless(
  headless: AnyObject | undefined,
  sets: readonly GoverningSet[],
): readonly FederatedCommand[] {
  if (headless === undefined || headless.metadata.deletionTimestamp !== undefined) return [];
  const annotations = fieldsAt(headless, "metadata", "annotations");
  const others = without(annotations, FEDERATED_SERVICES, FEDERATED_REPLICAS);
  const byName = sets.toSorted((x, y) => compareText(x.name, y.name));
  const pods = byName.flatMap(({ name, record }) =>
    podsOf(name, { shares: startedShares(record) }),
  );
  const next: Fields =
    sets.length === 0
      ? others
      : {
          ...others,
          [FEDERATED_SERVICES]: String(sets.some(({ asksForServices: asks }) => asks)),
          [FEDERATED_REPLICAS]: replicaList(pods),
        };
  return equalJson(next, annotations) ? [] : [annotated(headless, next)];
}

function annotated(headless: AnyObject, annotations: Fields): FederatedCommand {
  const metadata = { ...headless.metadata, annotations } as ObjectMeta;
  return { kind: "update", of: "Service", object: { ...headless, metadata } };
}

function policyCommands(
  { set, policies }: FederatedView,
  clusters: ReadonlySet<string>,
): readonly FederatedCommand[] {
  const commands: FederatedCommand[] = [];
  const present = new Map(policies.map((policy) => [policy.metadata.name, policy]));
  for (const cluster of clusters) {
    const policy = policyOf(set, cluster);
    const existing = present.get(policy.metadata.name ?? "");
    present.delete(policy.metadata.name ?? "");
    if (existing === undefined)
      commands.push({ kind: "create", of: "PropagationPolicy", object: policy });
    else if (!isCovered(policy["spec"], valueAt(existing, "spec")))
      commands.push({
        kind: "update",
        of: "PropagationPolicy",
        object: withSpec(existing, policy),
      });
  }
  for (const policy of present.values())
    if (policy.metadata.deletionTimestamp === undefined)
      commands.push({ kind: "delete", of: "PropagationPolicy", object: policy });
  return commands;
}

function serviceCommands(
  { set, headless, services }: FederatedView,
  pods: readonly FederatedPod[],
  events: PlannedEvent[],
): readonly FederatedCommand[] {
  const commands: FederatedCommand[] = [];
  const present = new Map(services.map((service) => [service.metadata.name, service]));
  for (const pod of pods) {
    const existing = present.get(pod.name);
    present.delete(pod.name);
    if (existing?.metadata.deletionTimestamp !== undefined) continue;
    const service = serviceOf(set, headless ?? {}, pod);
    if (existing === undefined) commands.push({ kind: "create", of: "Service", object: service });
    else if (!isOwned(existing, set)) {
      commands.push({ kind: "delete", of: "Service", object: existing });
      events.push(overwritten(pod.name));
    } else if (!isCovered(service["spec"], existing["spec"])) {
      commands.push({ kind: "update", of: "Service", object: withSpec(existing, service) });
    }
  }
  for (const service of present.values())
    if (isOwned(service, set) && service.metadata.deletionTimestamp === undefined)
      commands.push({ kind: "delete", of: "Service", object: service });
  return commands;
}

function peersCommands(
  { set, record, peers }: FederatedView,
  pods: readonly FederatedPod[],
  events: PlannedEvent[],
): readonly FederatedCommand[] {
  const leaving = presentDeparture(record);
  const isLeaving = ({ cluster, ordinal }: FederatedPod): boolean =>
    leaving?.cluster === cluster && leaving.ordinal === ordinal;
  const list = pods.map((pod) => {
    const { name, cluster, ordinal } = pod;
    const id = (idBase(record, cluster) ?? 0) + ordinal;
    const state = isLeaving(pod) ? "leaving" : joiningState(record, cluster, ordinal);
    return { name, cluster, ordinal, id, ...(state !== undefined && { state }) };
  });
  const data = {
    peers: pods.map(({ name }) => `${name}\n`).join(""),
    "peers.json": JSON.stringify(list),
    ...(leaving !== undefined && { leaving: departureName(set.metadata.name, leaving) }),
  };
  if (peers === undefined) {
    const metadata = metadataOf(set, peersName(set.metadata.name), {});
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data };
    return [{ kind: "create", of: "ConfigMap", object }];
  }
  if (peers.metadata.deletionTimestamp !== undefined) return [];
  if (!isOwned(peers, set)) {
    const message = `The ConfigMap ${peers.metadata.name} is not ours: the list of peers is not written to it.`;
    events.push({ type: "Warning", reason: "PeersNameTaken", message });
    return [];
  }
  if (equalJson(fieldsAt(peers, "data"), data)) return [];
  return [{ kind: "update", of: "ConfigMap", object: { ...peers, data } }];
}

/** The policy that places the Services of a cluster's pods there. */
function policyOf(set: AnyObject, cluster: string): New<AnyObject> {
  const matchLabels = { [FEDERATED_SET]: set.metadata.name, [FEDERATED_CLUSTER]: cluster };
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: metadataOf(set, `${set.metadata.name}-${cluster}`, { [FEDERATED_CLUSTER]: cluster }),
    spec: {
      resourceSelectors: [{ apiVersion: "v1", kind: "Service", labelSelector: { matchLabels } }],
      placement: {
        clusterAffinity: { clusterNames: [cluster] },
        // Nothing moves these Services, so a taint must not keep them from their pods either.
        clusterTolerations: [{ operator: "Exists" }],
      },
      conflictResolution: "Overwrite",
      priority: PRIORITY,
    },
  };
}

function serviceOf(
  set: AnyObject,
  headless: object,
  { name, cluster }: FederatedPod,
): New<AnyObject> {
  const type = textAt(set, "metadata", "annotations", FEDERATED_SERVICE_TYPE);
  const ports = listAt(headless, "spec", "ports").flatMap((port) =>
    isFields(port) ? [without(port, "nodePort")] : [],
  );
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(set, name, { [FEDERATED_CLUSTER]: cluster }),
    spec: {
      type: type === "ClusterIP" ? "ClusterIP" : "LoadBalancer",
      ports: ports as never,
      selector: { [FEDERATED_POD]: name },
      publishNotReadyAddresses: true,
    },
  };
}

function metadataOf(
  set: AnyObject,
  name: string,
  labels: Readonly<Record<string, string>>,
): New<AnyObject>["metadata"] {
  const { namespace = "", name: owner, uid } = set.metadata;
  return {
    namespace,
    name,
    labels: { [FEDERATED_SET]: owner, ...labels },
    ownerReferences: [
      { apiVersion: "apps/v1", kind: "StatefulSet", name: owner, uid, controller: true },
    ],
  };
}

/** Whether the object was made for this very set. */
function isOwned({ metadata }: AnyObject, set: AnyObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === set.metadata.uid);
}

/** An object with what is wanted in its spec. */
function withSpec(existing: KubeObject, wanted: object): AnyObject {
  return { ...existing, spec: { ...fieldsAt(existing, "spec"), ...fieldsAt(wanted, "spec") } };
}

/** Whether everything that is wanted is there; a server may have filled in more. */
function isCovered(wanted: unknown, present: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(present) &&
      wanted.length === present.length &&
      wanted.every((one, i) => isCovered(one, present[i]))
    );
  if (!isFields(wanted)) return equalJson(wanted, present);
  return Object.entries(wanted).every(([key, value]) =>
    key === "selector" || key === "matchLabels"
      ? equalJson(value, valueAt(present, key))
      : isCovered(value, valueAt(present, key)),
  );
}

function overwritten(name: string): PlannedEvent {
  const message = `The Service ${name} existed and is replaced by the Service of the pod ${name}.`;
  return { type: "Warning", reason: "ServiceOverwritten", message };
}
