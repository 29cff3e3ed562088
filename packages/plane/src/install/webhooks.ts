/**
 * About which writes the kube-apiserver asks the manager, and what happens while no replica answers.
 *
 * 1. What persons write waits for an answer (`failurePolicy: Fail`): a policy that was not checked can move workloads.
 * 2. What controllers write (record-kinds.ts, and updates of Clusters) does not (`Ignore`): a failover must not depend on the way from the API server to the webhook.
 *    About what the manager itself writes of these the API server does not ask at all: the manager fills in the same values before
 *    it sends an object (prepared-client.ts), and decides by the same functions that check.
 * 3. Nothing that a manager needs in order to start is asked about: Leases, Secrets, roles and these configurations are of other
 *    kinds, and deletion protection leaves out the control plane's own namespace and those of Kubernetes.
 * 4. Of Kubernetes' own kinds only StatefulSets that bear an annotation of the federation are asked about.
 * 5. Status is never asked about, but for what agents and detectors write of it.
 * 6. What agents and detectors write waits for an answer, because RBAC cannot distinguish it from what would start a workload twice or bring
 *    work to a cluster (the condition Fenced, labels, the Lease of another). Two writes are not asked about: the renewal of the own Lease
 *    and the status of the own Works. RBAC binds both to their names and namespaces, they are by far the most
 *    frequent, and the first is the sign of life: a cluster must not fall silent because the webhook cannot be reached. How large a report
 *    is neither RBAC nor an expression can judge, so the manager takes no larger one in (core, `takenIn`); one that counts
 *    more copies than the Work has manifests is asked about, and refused.
 */
import { controlPlaneKinds, type JsonObject, type Resource } from "@lifeboat/api";
import {
  AGENTS_GROUP,
  agentUser,
  DETECTORS_GROUP,
  detectorUser,
} from "@lifeboat/core/clusters/rights";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { wellKnown } from "@lifeboat/core";
import { RECORD_KINDS } from "../record-kinds.ts";
import {
  MANAGER_ACCOUNT,
  mutatingConfigurations,
  SYSTEM_NAMESPACE,
  validatingConfigurations,
  WEBHOOK_SERVICE,
} from "../webhook/resources.ts";
import { REVIEW_PATHS } from "../webhook/review.ts";

/** Where the API server finds the webhook: the Service in its own cluster, or a URL. */
export interface WebhookPlace {
  readonly url?: string;
}

/** Long enough for a check of scripts, short enough for a person to wait. */
const TIMEOUT_SECONDS = 5;

/** What the manager's own writes are not: each of them would otherwise ask two replicas about what a third has just prepared. */
const NOT_BY_THE_MANAGER = {
  name: "not-by-the-manager",
  expression: `request.userInfo.username != "system:serviceaccount:${SYSTEM_NAMESPACE}:${MANAGER_ACCOUNT}"`,
} as const;

/** The webhooks of the two configurations, without a bundle. */
export function webhooksOf(place: WebhookPlace): {
  readonly mutating: readonly JsonObject[];
  readonly validating: readonly JsonObject[];
} {
  const both = (path: string, prefix: string): readonly JsonObject[] => [
    webhook(`${prefix}-orders.lifeboat.dev`, place, path, "Fail", [
      rule("CREATE", (kind) => !RECORD_KINDS.has(kind)),
      rule("UPDATE", (kind) => !RECORD_KINDS.has(kind) && kind !== "Cluster"),
    ]),
    {
      ...webhook(`${prefix}-records.lifeboat.dev`, place, path, "Ignore", [
        rule("CREATE", (kind) => RECORD_KINDS.has(kind)),
        rule("UPDATE", (kind) => RECORD_KINDS.has(kind) || kind === "Cluster"),
      ]),
      matchConditions: [NOT_BY_THE_MANAGER],
    },
  ];
  return {
    mutating: [agentsWebhook(place), ...both(REVIEW_PATHS.mutate, "fill")],
    validating: [
      ...both(REVIEW_PATHS.validate, "check"),
      federatedWebhook(place),
      deletionWebhook(place),
    ].flat(),
  };
}

export const configurationResources = {
  mutating: mutatingConfigurations as unknown as Resource,
  validating: validatingConfigurations as unknown as Resource,
} as const;

/** Whatever agents and detectors write, of any kind: they write no others than theirs, whatever RBAC gives them. */
function agentsWebhook(place: WebhookPlace): JsonObject {
  const every = {
    apiGroups: ["*"],
    apiVersions: ["*"],
    resources: ["*/*"],
    operations: ["CREATE", "UPDATE", "DELETE"],
    scope: "*",
  };
  return {
    ...webhook("restrict-agents.lifeboat.dev", place, REVIEW_PATHS.restrict, "Fail", [[every]]),
    matchConditions: [
      { name: "claims-an-identity", expression: CLAIMS_AN_IDENTITY },
      // Reviews are answered and not stored: whether it may do something is anyone's question.
      {
        name: "is-stored",
        expression: `!(request.resource.group in ["authentication.k8s.io", "authorization.k8s.io"])`,
      },
      { name: "is-not-its-lease", expression: `!(${RENEWS_OWN_LEASE})` },
      { name: "is-not-its-work", expression: `!(${REPORTS_OWN_WORK})` },
    ],
  };
}

const USER = "request.userInfo.username";
const hasGroup = (group: string): string =>
  `(has(request.userInfo.groups) && ${JSON.stringify(group)} in request.userInfo.groups)`;
const CLAIMS_AN_IDENTITY = [
  `${USER}.startsWith(${JSON.stringify(agentUser(""))})`,
  `${USER}.startsWith(${JSON.stringify(detectorUser(""))})`,
  hasGroup(AGENTS_GROUP),
  hasGroup(DETECTORS_GROUP),
].join(" || ");

const updateOf = (group: string, plural: string, subresource: string): string =>
  [
    `request.operation == "UPDATE"`,
    `request.resource.group == ${JSON.stringify(group)}`,
    `request.resource.resource == ${JSON.stringify(plural)}`,
    // A request for the object itself has no such field.
    subresource === ""
      ? `(!has(request.subResource) || request.subResource == "")`
      : `(has(request.subResource) && request.subResource == ${JSON.stringify(subresource)})`,
    hasGroup(AGENTS_GROUP),
    `!${hasGroup(DETECTORS_GROUP)}`,
  ].join(" && ");
const RENEWS_OWN_LEASE = `${updateOf("coordination.k8s.io", "leases", "")} && request.namespace == ${JSON.stringify(wellKnown.CLUSTER_NAMESPACE)} && ${USER} == ${JSON.stringify(agentUser(""))} + request.name`;
const EXECUTION = JSON.stringify(executionNamespace(""));
const MANIFESTS =
  "has(oldObject.spec) && has(oldObject.spec.workload) && has(oldObject.spec.workload.manifests)";
const REPORTS = "has(object.status) && has(object.status.manifestStatuses)";
const COUNTS_WHAT_IS = `(!(${REPORTS}) || (${MANIFESTS} && size(object.status.manifestStatuses) <= size(oldObject.spec.workload.manifests)))`;
const REPORTS_OWN_WORK = `${updateOf("work.karmada.io", "works", "status")} && request.namespace.startsWith(${EXECUTION}) && ${USER} == ${JSON.stringify(agentUser(""))} + request.namespace.replace(${EXECUTION}, "", 1) && ${COUNTS_WHAT_IS}`;

/** StatefulSets that ask to be federated, or did; all others are none of our business. */
function federatedWebhook(place: WebhookPlace): JsonObject {
  const sets = {
    apiGroups: ["apps"],
    apiVersions: ["v1"],
    resources: ["statefulsets"],
    operations: ["CREATE", "UPDATE"],
    scope: "Namespaced",
  };
  const bears = (one: string): string =>
    `(${one} != null && has(${one}.metadata.annotations) && ${one}.metadata.annotations.exists(key, key.startsWith("federation.kubernetes.io/")))`;
  return {
    ...webhook("check-federated.lifeboat.dev", place, REVIEW_PATHS.validate, "Fail", [[sets]]),
    matchConditions: [
      { name: "federated", expression: `${bears("object")} || ${bears("oldObject")}` },
    ],
  };
}

/** Objects of any kind that bear the label are kept; only those are asked about. */
function deletionWebhook(place: WebhookPlace): JsonObject {
  const every = {
    apiGroups: ["*"],
    apiVersions: ["*"],
    resources: ["*"],
    operations: ["DELETE"],
    scope: "*",
  };
  return {
    ...webhook("check-deletion.lifeboat.dev", place, REVIEW_PATHS.validate, "Fail", [[every]]),
    objectSelector: {
      matchLabels: { "resourcetemplate.karmada.io/deletion-protected": "Always" },
    },
    namespaceSelector: {
      matchExpressions: [
        {
          key: "kubernetes.io/metadata.name",
          operator: "NotIn",
          values: ["kube-system", "kube-public", "kube-node-lease", SYSTEM_NAMESPACE],
        },
      ],
    },
  };
}

function webhook(
  name: string,
  { url }: WebhookPlace,
  path: string,
  failurePolicy: "Fail" | "Ignore",
  rules: readonly (readonly JsonObject[])[],
): JsonObject {
  const service = { namespace: SYSTEM_NAMESPACE, name: WEBHOOK_SERVICE, path, port: 443 };
  const clientConfig =
    url === undefined ? { service } : { url: `${url.replace(/\/$/, "")}${path}` };
  return {
    name,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    timeoutSeconds: TIMEOUT_SECONDS,
    failurePolicy,
    matchPolicy: "Equivalent",
    clientConfig,
    rules: rules.flat(),
  };
}

/** One rule per group, for the kinds that are chosen. */
function rule(
  operation: "CREATE" | "UPDATE",
  isMeant: (kind: string) => boolean,
): readonly JsonObject[] {
  const chosen = controlPlaneKinds.filter(({ kind }) => isMeant(kind));
  const versions = [...new Set(chosen.map(({ group, version }) => `${group}/${version}`))];
  return versions.map((of) => {
    const kinds = chosen.filter(({ group, version }) => `${group}/${version}` === of);
    return {
      apiGroups: [of.slice(0, of.lastIndexOf("/"))],
      apiVersions: [of.slice(of.lastIndexOf("/") + 1)],
      resources: kinds.map(({ plural }) => plural),
      operations: [operation],
      scope: "*",
    };
  });
}
