/**
 * Which label keys may carry the state of a workload to its next cluster (D12). Admission refuses the others when a policy is
 * written; the eviction, which alone knows the template, asks the same function.
 *
 * Not free are the keys that this control plane and the Karmada API give a meaning to, and the domains of Kubernetes.
 * `cluster.karmada.io/` and `failover.karmada.io/` are free: people and their webhooks use them for state.
 */
import { labelKeyProblems } from "../../metadata/names.ts";

/** Why a key cannot carry state, whatever the template; undefined: it can. */
export function stateLabelProblem(key: string): string | undefined {
  const [syntax] = labelKeyProblems(key);
  if (syntax !== undefined) return syntax;
  const domain = key.includes("/") ? (key.split("/", 1)[0] ?? "") : "";
  const isOurs =
    OURS.has(key) || key.startsWith(DEPENDED_BY_PREFIX) || isWithin(domain, "lifeboat.dev");
  if (isOurs) return "the label belongs to the control plane";
  const isKubernetes = isWithin(domain, "kubernetes.io") || isWithin(domain, "k8s.io");
  return isKubernetes ? "the label belongs to Kubernetes" : undefined;
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}

const DEPENDED_BY_PREFIX = "resourcebinding.karmada.io/depended-by-";

/** The well-known labels, annotations and finalizers of the Karmada API, by their domain. */
const WELL_KNOWN: Readonly<Record<string, readonly string[]>> = {
  "karmada.io": [
    "managed",
    "system",
    "cluster-controller",
    "execution-controller",
    "binding-controller",
    "cluster-resource-binding-controller",
    "binding-dependencies-distributor",
    "propagation-policy-controller",
    "cluster-propagation-policy-controller",
    "multiclusterservice-controller",
    "endpointslice-controller",
    "mcs-endpointslice-collect-controller",
    "mcs-endpointslice-dispatch-controller",
  ],
  "propagationpolicy.karmada.io": ["permanent-id", "namespace", "name"],
  "clusterpropagationpolicy.karmada.io": ["permanent-id", "name"],
  "resourcebinding.karmada.io": ["permanent-id", "namespace", "name", "dependencies"],
  "clusterresourcebinding.karmada.io": ["permanent-id", "name"],
  "work.karmada.io": ["permanent-id", "namespace", "name", "conflict-resolution"],
  "binding.karmada.io": ["managed-by"],
  "policy.karmada.io": ["applied-placement", "applied-overrides", "applied-cluster-overrides"],
  "resourcetemplate.karmada.io": [
    "claimed-by",
    "retain-replicas",
    "deletion-protected",
    "uid",
    "generation",
    "managed-labels",
    "managed-annotations",
  ],
  "namespace.karmada.io": ["skip-auto-propagation"],
  "resource.karmada.io": ["cached-from-cluster"],
  "endpointslice.karmada.io": ["namespace", "name", "managed-by", "provision-cluster"],
  "multiclusterservice.karmada.io": ["permanent-id", "namespace", "name"],
  "federatedresourcequota.karmada.io": ["namespace", "name"],
};

const OURS: ReadonlySet<string> = new Set(
  Object.entries(WELL_KNOWN).flatMap(([domain, names]) => names.map((name) => `${domain}/${name}`)),
);
