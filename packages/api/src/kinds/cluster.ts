/**
 * Cluster: a member of the fleet, how to reach it, its taints, and what was last observed of it.
 */
import { equalJson } from "../equal-json.ts";
import { type FieldError, forbidden, invalid } from "../field-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { dnsLabelProblems, labelValueProblems } from "../metadata/names.ts";
import { eachIn, isEmpty, objectsOf, setTo, within } from "./builder/changes.ts";
import {
  conditionColumn,
  declareKind,
  type KindObject,
  type WriteContext,
} from "./builder/kind-declaration.ts";
import {
  choice,
  flag,
  integer,
  list,
  longInteger,
  map,
  object,
  optional,
  quantity,
  type Shape,
  text,
  time,
} from "./builder/shape.ts";
import {
  prepareResourceModels,
  resourceModels,
  validateResourceModels,
} from "./cluster-resource-models.ts";
import { count, sharedConditions } from "./shared/conditions.ts";
import { EVICTING_EFFECTS, TAINT_EFFECTS, validateTaints } from "./shared/taints.ts";

const secretReference = (description: string) =>
  object(description, {
    namespace: text("The Secret's namespace.", { minLength: 1 }),
    name: text("The Secret's name.", { minLength: 1 }),
  });

const taint = object("A mark that keeps workloads away or moves them.", {
  key: text("A label key."),
  value: optional(text("A label value.")),
  effect: choice(
    "PreferNoSchedule makes the cluster come after others. NoSchedule keeps new workloads away. NoExecute also moves those that do not tolerate it. PreferNoExecute moves " +
      "only those whose policy sets failover.cluster.",
    TAINT_EFFECTS,
  ),
  timeAdded: optional(
    time("When it was added; filled in by the server for NoExecute and PreferNoExecute."),
  ),
});

const spec = object("How the cluster is reached, and what is wanted of it.", {
  id: optional(
    text("Which cluster it is, whatever its name: the uid of the member's namespace kube-system."),
  ),
  syncMode: choice(
    "Push: the control plane connects to the member. Pull: an agent in it connects here.",
    ["Push", "Pull"],
  ),
  apiEndpoint: optional(text("The URL of the member's API.")),
  secretRef: optional(secretReference("The Secret with the keys token and caBundle.")),
  impersonatorSecretRef: optional(
    secretReference("The Secret with the token that may impersonate users in the member."),
  ),
  insecureSkipTLSVerification: optional(flag("Do not check the member's certificate.")),
  proxyURL: optional(text("A proxy to reach the member by: http, https or socks5.")),
  proxyHeader: optional(
    map("Headers for the proxy; a comma separates several values.", text("Values.")),
  ),
  provider: optional(text("The provider of the cluster.")),
  region: optional(text("The region it runs in.")),
  zone: optional(text("The old way to name one zone; moved into zones.")),
  zones: optional(list("The zones it runs in.", text("A zone."))),
  taints: optional(list("Marks that keep workloads away or move them.", taint)),
  resourceModels: optional(resourceModels),
});

const resourceList = (description: string): Shape<Readonly<Record<string, string | number>>> =>
  map(description, quantity("An amount."));

const status = object("What was last observed.", {
  kubernetesVersion: optional(text("The member's version, such as v1.36.4.")),
  apiEnablements: optional(
    list(
      "The API of the member.",
      object("One group and version.", {
        groupVersion: text("Such as apps/v1."),
        resources: optional(
          list(
            "Its resources.",
            object("One resource.", { name: text("Its plural."), kind: text("Its kind.") }),
          ),
        ),
      }),
    ),
  ),
  conditions: optional(
    sharedConditions("What holds of the cluster; other clients may add theirs."),
  ),
  nodeSummary: optional(
    object("Its nodes.", {
      totalNum: optional(integer("All nodes.")),
      readyNum: optional(integer("Those that are ready.")),
    }),
  ),
  nodeAddresses: optional(
    list(
      "Where some of its nodes are reached: load balancers send requests for node ports there.",
      text("An address."),
    ),
  ),
  resourceSummary: optional(
    object("Its room.", {
      allocatable: optional(resourceList("What its nodes offer.")),
      allocating: optional(resourceList("What waiting pods ask for.")),
      allocated: optional(resourceList("What running pods ask for.")),
      allocatableModelings: optional(
        list(
          "How many nodes there are of each grade.",
          object("One grade.", {
            grade: longInteger("The grade.", { minimum: 0 }),
            count: count("Its nodes."),
          }),
        ),
      ),
    }),
  ),
  remedyActions: optional(list("What Remedies ask for here.", text("An action."))),
});

export type Cluster = KindObject<typeof spec, typeof status>;

export const clusterKind = declareKind({
  group: "cluster.karmada.io",
  version: "v1alpha1",
  kind: "Cluster",
  plural: "clusters",
  namespaced: false,
  description: "A member cluster of the fleet.",
  columns: [
    { name: "Version", type: "string", jsonPath: ".status.kubernetesVersion" },
    { name: "Mode", type: "string", jsonPath: ".spec.syncMode" },
    conditionColumn("Ready", "Ready"),
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Zones", type: "string", jsonPath: ".spec.zones", priority: 1 },
    { name: "Region", type: "string", jsonPath: ".spec.region", priority: 1 },
    { name: "Provider", type: "string", jsonPath: ".spec.provider", priority: 1 },
    { name: "API-Endpoint", type: "string", jsonPath: ".spec.apiEndpoint", priority: 1 },
    { name: "Proxy-URL", type: "string", jsonPath: ".spec.proxyURL", priority: 1 },
  ],
  spec,
  status,
  prepare: prepareCluster,
  rules: validateCluster,
});

export const clusters = clusterKind.resource;

function prepareCluster(cluster: JsonObject, context: WriteContext): JsonObject {
  return within(cluster, "spec", (given) =>
    prepareResourceModels(stampTaints(moveZone(given), context), context.old === undefined),
  );
}

/**
 * A lone `zone` becomes the one entry of `zones`. A client that applies its manifest again names the zone that is there
 * already.
 */
function moveZone(given: JsonObject): JsonObject {
  const { zone, ...rest } = given;
  if (typeof zone !== "string" || zone === "") return given;
  const { zones } = rest;
  const isFree = isEmpty(zones) || equalJson(zones, []) || equalJson(zones, [zone]);
  return isFree ? { ...rest, zones: [zone] } : given;
}

/** The time a taint was added: as given, as it was (a client that writes the taint again did not add it), or now. */
function stampTaints(given: JsonObject, { old, now }: WriteContext): JsonObject {
  const before = taintTimes(old);
  return eachIn(given, "taints", (one) => {
    const { effect, timeAdded } = one;
    if (typeof effect !== "string" || !EVICTING_EFFECTS.includes(effect)) return one;
    return isEmpty(timeAdded) ? setTo(one, "timeAdded", before.get(identityOf(one)) ?? now) : one;
  });
}

function taintTimes(cluster: JsonObject | undefined): ReadonlyMap<string, Json> {
  const times = new Map<string, Json>();
  const given = cluster?.["spec"];
  for (const one of objectsOf(isJsonObject(given) ? given["taints"] : undefined)) {
    const { timeAdded = null } = one;
    if (!isEmpty(timeAdded)) times.set(identityOf(one), timeAdded);
  }
  return times;
}

function identityOf({ key, effect }: JsonObject): string {
  return JSON.stringify([key, effect]);
}

const MAX_NAME = 48;

/** The Secret of a cluster by whose token users are impersonated is called as the cluster and this, beside the one called as the cluster. */
export const IMPERSONATOR_SUFFIX = "-impersonator";

function validateCluster({ metadata, spec: given }: Cluster, old?: Cluster): FieldError[] {
  const { name } = metadata;
  const errors = dnsLabelProblems(name).map((problem) => invalid("metadata.name", name, problem));
  if (name.length > MAX_NAME)
    errors.push(invalid("metadata.name", name, `must be no more than ${MAX_NAME} characters`));
  // One that is there already can still be changed, and so leave.
  if (old === undefined && name.endsWith(IMPERSONATOR_SUFFIX))
    errors.push(
      invalid(
        "metadata.name",
        name,
        `must not end in ${IMPERSONATOR_SUFFIX}: so ends the name of another cluster's Secret`,
      ),
    );
  return [
    ...errors,
    ...validateEndpoint(given.apiEndpoint),
    ...validateProxy(given.proxyURL),
    ...validatePlace(given),
    ...validateTaints(given.taints, "spec.taints"),
    ...validateResourceModels(given.resourceModels, "spec.resourceModels"),
  ];
}

function validateEndpoint(endpoint = ""): FieldError[] {
  if (endpoint === "") return [];
  const field = "spec.apiEndpoint";
  const url = parseUrl(endpoint);
  if (url === undefined || url.host === "")
    return [invalid(field, endpoint, "must be a URL with a host")];
  const errors: FieldError[] = [];
  if (url.username !== "" || url.password !== "")
    errors.push(invalid(field, endpoint, "must not carry user information"));
  if (endpoint.includes("#")) errors.push(invalid(field, endpoint, "must not have a fragment"));
  if (endpoint.includes("?")) errors.push(invalid(field, endpoint, "must not have a query"));
  return errors;
}

const PROXY_SCHEMES: readonly string[] = ["http:", "https:", "socks5:"];

function validateProxy(proxy = ""): FieldError[] {
  if (proxy === "") return [];
  const url = parseUrl(proxy);
  if (url === undefined) return [invalid("spec.proxyURL", proxy, "must be a URL")];
  if (PROXY_SCHEMES.includes(url.protocol)) return [];
  return [invalid("spec.proxyURL", proxy, "the scheme must be http, https or socks5")];
}

function parseUrl(value: string): URL | undefined {
  return URL.canParse(value) ? new URL(value) : undefined;
}

function validatePlace(given: Cluster["spec"]): FieldError[] {
  const errors: FieldError[] = [];
  const check = (field: string, value = ""): void => {
    for (const problem of labelValueProblems(value)) errors.push(invalid(field, value, problem));
  };
  check("spec.provider", given.provider);
  check("spec.region", given.region);
  check("spec.zone", given.zone);
  const zones = given.zones ?? [];
  for (const [i, zone] of zones.entries()) check(`spec.zones[${i}]`, zone);
  if ((given.zone ?? "") !== "" && zones.length > 0)
    errors.push(forbidden("spec.zone", "cannot be used together with zones"));
  return errors;
}
