/**
 * Puts a control plane into a kube-apiserver, or brings the one that is there in line with this version.
 *
 * 1. Repeating it changes nothing. After a death at any write, running it again ends the same.
 * 2. It is refused before the first write when a newer version is installed, or when a CRD of the same name is not ours;
 *    `force` overrules both.
 * 3. A dry run writes nothing, and asks the server what would become of what is there.
 */
import {
  type AnyObject,
  clusters,
  configMaps,
  customResourceDefinitions,
  isRefused,
  keyOf,
  orNothing,
  qualifiedName,
} from "@lifeboat/api";
import { type Clock, sleep } from "@lifeboat/base";
import { CLUSTER_INFO } from "@lifeboat/core/clusters/bootstrap-tokens";
import { type Client, isLoopbackHost } from "@lifeboat/kit";
import { FRONT_CONFIG, frontRules } from "../aggregated/follow-front.ts";
import { apiServices, type WebhookConfiguration } from "../webhook/resources.ts";
import { aggregationProblem } from "./aggregation.ts";
import { differences, isNewer, mergedObject } from "./merge.ts";
import {
  type InstalledObject,
  installedObjects,
  type InstallOptions,
  labelValue,
  MANAGED_BY,
  MANAGER_NAME,
  type RegistrationPlace,
  VERSION_LABEL,
} from "./objects.ts";
import { InstallRefused } from "./refusal.ts";

export interface InstallRequest extends InstallOptions {
  readonly dryRun: boolean;
  readonly force: boolean;
}

export interface InstallStep {
  /** `kind/name` or `kind/namespace/name`. */
  readonly subject: string;
  readonly outcome: "created" | "configured" | "unchanged";
  /** `-path: value`, `+path: value`; none for what is created. */
  readonly differences: readonly string[];
}

/** Installs; reports each step as it is done. Answers what was left out and why, one sentence each. */
export async function installPlane(
  clock: Clock,
  client: Client,
  request: InstallRequest,
  tell: (step: InstallStep) => void,
): Promise<readonly string[]> {
  const isAggregated = await hasAggregatedClusters(client);
  const wantsProxy = request.memberProxy ?? true;
  const noProxy = wantsProxy ? await proxyProblem(client, request) : undefined;
  const memberProxy = wantsProxy && noProxy === undefined;
  const [registration, noRegistration] = await registrationOf(client, request, isAggregated);
  const objects = installedObjects({
    version: request.version,
    webhook: request.webhook,
    memberProxy,
    ...(registration === undefined ? {} : { registration }),
  }).filter(({ object }) => !isAggregated || object.metadata.name !== CLUSTERS_CRD);
  const found = await Promise.all(objects.map((one) => find(client, one)));
  if (!request.force) refuseOthers(objects, found, labelValue(request.version));
  for (const one of objects)
    if ("webhooks" in one.object) await refuseWithoutConditions(client, one);
  for (const one of objects) tell(await put(client, one, request.dryRun));
  if (!request.dryRun) await untilServed(clock, client, objects);
  return [
    ...(noProxy === undefined
      ? []
      : [`the way into members (get, logs and exec with -C) is not installed: ${noProxy}`]),
    ...(noRegistration === undefined ? [] : [noRegistration]),
  ];
}

/** How clusters will register, and a sentence about what is otherwise than was asked for. */
async function registrationOf(
  client: Client,
  { registration }: InstallRequest,
  isAggregated: boolean,
): Promise<readonly [RegistrationPlace | undefined, string | undefined]> {
  if (registration === undefined) return [undefined, undefined];
  if (isAggregated)
    return [
      undefined,
      "registration by a token is not installed: another API server serves Clusters, and would not ask what an agent may write of them",
    ];
  const found = await orNothing(client.get(configMaps, CLUSTER_INFO));
  if (found !== undefined && found.metadata.labels?.[MANAGED_BY] !== MANAGER_NAME)
    return [
      { bundle: registration.bundle },
      "kube-public/cluster-info is there and was not installed by Lifeboat: it stays, and clusters register at the address that it names",
    ];
  if (registration.bundle === "")
    return [
      undefined,
      "registration by a token is not installed: the kubeconfig names no certificate authority by which clusters could know the API server",
    ];
  return [registration, loopbackSentence(registration)];
}

/** What is wrong with an address that leads every cluster to itself; undefined: nothing. */
function loopbackSentence({ server }: RegistrationPlace): string | undefined {
  if (server === undefined || !isLoopbackHost(new URL(server).hostname)) return undefined;
  return (
    `kube-public/cluster-info names ${server}, which only this machine reaches: ` +
    "clusters on other machines cannot register until `lifeboat install --registration-endpoint HOST:PORT` names an address that they reach"
  );
}

/** Why the API server cannot pass requests for members on to the manager; undefined: it can. */
async function proxyProblem(
  client: Client,
  { webhook }: InstallRequest,
): Promise<string | undefined> {
  if (frontRules(await orNothing(client.get(configMaps, FRONT_CONFIG))) === undefined)
    return "the API server aggregates no others (kube-apiserver --requestheader-client-ca-file, --proxy-client-cert-file)";
  return aggregationProblem(webhook);
}

const CLUSTERS_CRD = qualifiedName(clusters);

/** Whether another API server behind this one serves Clusters, as in a control plane that was adopted: then they are no CRD. */
export async function hasAggregatedClusters(client: Client): Promise<boolean> {
  const name = `${clusters.version}.${clusters.group}`;
  const found = await orNothing(client.get(apiServices, { namespace: "", name }));
  return found?.spec?.service !== undefined;
}

function refuseOthers(
  objects: readonly InstalledObject[],
  found: readonly (AnyObject | undefined)[],
  version: string,
): void {
  for (const [i, { resource }] of objects.entries()) {
    const labels = found[i]?.metadata.labels ?? {};
    const subject = `${resource.kind} ${found[i]?.metadata.name}`;
    if (found[i] === undefined) continue;
    const isOurs = labels[MANAGED_BY] === MANAGER_NAME;
    if (!isOurs && resource.plural === customResourceDefinitions.plural)
      throw new InstallRefused(
        `${subject} is there and was not installed by Lifeboat: another control plane may use it; ` +
          "to take it over, add --force",
      );
    const before = labels[VERSION_LABEL] ?? "";
    if (isOurs && isNewer(before, version))
      throw new InstallRefused(
        `${subject} was installed by version ${before}, which is newer than this ${version}: ` +
          "use that version, or add --force to go back",
      );
  }
}

/**
 * API servers before 1.28 drop the conditions of webhooks without a word. One that is to be asked about agents alone would be asked
 * about every write of the whole control plane then, and hold it up while no replica answers, the Leases of the replicas included.
 */
async function refuseWithoutConditions(
  client: Client,
  { resource, object }: InstalledObject,
): Promise<void> {
  const { name, ...metadata } = object.metadata;
  const trial = { ...object, metadata: { ...metadata, name: `${name}-trial` } };
  const kept = await client.create(resource, trial, { dryRun: true });
  const conditioned = (one: object): readonly string[] =>
    ((one as WebhookConfiguration).webhooks ?? [])
      .filter(({ matchConditions }) => matchConditions !== undefined)
      .map((webhook) => webhook.name);
  if (conditioned(kept).length < conditioned(object).length)
    throw new InstallRefused(
      "the API server drops the match conditions of webhooks: Kubernetes 1.28 or newer is needed, with its feature gate AdmissionWebhookMatchConditions",
    );
}

async function put(client: Client, one: InstalledObject, dryRun: boolean): Promise<InstallStep> {
  const { resource, object } = one;
  const subject = subjectOf(one);
  for (;;) {
    const found = await find(client, one);
    try {
      if (found === undefined) {
        if (!dryRun) await client.create(resource, object);
        return { subject, outcome: "created", differences: [] };
      }
      const after = await client.update(resource, mergedObject(found, object), { dryRun });
      const changes = differences(found, after);
      const outcome = changes.length === 0 ? "unchanged" : "configured";
      return { subject, outcome, differences: changes };
    } catch (error) {
      // Another installer, or the manager, wrote it at the same time.
      if (!isRefused(error, "Conflict") && !isRefused(error, "AlreadyExists")) throw error;
    }
  }
}

/** A new CRD is served a moment after it is created; what follows needs all of them. */
export async function untilServed(
  clock: Clock,
  client: Client,
  objects: readonly InstalledObject[],
): Promise<void> {
  const never = new AbortController().signal;
  for (const one of objects.filter(
    ({ resource }) => resource.plural === customResourceDefinitions.plural,
  ))
    for (let tries = 0; !isEstablished(await find(client, one)); tries++) {
      if (tries > MAX_TRIES)
        throw new InstallRefused(`${subjectOf(one)} is not served after ${MAX_TRIES / 10} s`);
      await sleep(clock, LOOK_MS, never);
    }
}

const LOOK_MS = 100;
const MAX_TRIES = 600;

function isEstablished(crd: AnyObject | undefined): boolean {
  const status = (crd?.["status"] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return (status.conditions ?? []).some(
    (one) => one.type === "Established" && one.status === "True",
  );
}

function find(
  client: Client,
  { resource, object }: InstalledObject,
): Promise<AnyObject | undefined> {
  return orNothing(client.get(resource, keyOf(object)));
}

/** As it is printed: `customresourcedefinition/clusters.cluster.karmada.io`. */
export function subjectOf({ resource, object }: InstalledObject): string {
  const { namespace = "", name = "" } = object.metadata;
  const kind = resource.kind.toLowerCase();
  return namespace === "" ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}
