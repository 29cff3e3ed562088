/**
 * The access table (D25): what an agent may do to what is its cluster's own, and what a tenant with `edit` in one namespace may do
 * there. Everything else is refused with 403. Every resource that the control plane serves has a line: a new kind is added here, by
 * a decision, or access-matrix.e2e.test.ts fails.
 *
 * `-` nothing, `read` get, list and watch, `write` create, update, patch, delete and deletecollection, `all` both.
 */
export type Verb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection";

const READ: readonly Verb[] = ["get", "list", "watch"];
const WRITE: readonly Verb[] = ["create", "update", "patch", "delete", "deletecollection"];

// Resource                                          agent, own                                tenant, in its namespace
const TABLE = `
/bindings                                            -                                         read
/componentstatuses                                   -                                         -
/configmaps                                          -                                         all
/endpoints                                           -                                         read
/events                                              create,patch                              all
/limitranges                                         -                                         read
/namespaces                                          get                                       read
/namespaces/finalize                                 -                                         -
/namespaces/status                                   -                                         read
/nodes                                               -                                         -
/nodes/status                                        -                                         -
/persistentvolumeclaims                              -                                         all
/persistentvolumeclaims/status                       -                                         read
/persistentvolumes                                   -                                         -
/persistentvolumes/status                            -                                         -
/pods                                                -                                         all
/pods/binding                                        -                                         -
/pods/eviction                                       -                                         create
/pods/status                                         -                                         read
/podtemplates                                        -                                         -
/replicationcontrollers                              -                                         all
/replicationcontrollers/scale                        -                                         all
/replicationcontrollers/status                       -                                         read
/resourcequotas                                      -                                         read
/resourcequotas/status                               -                                         read
/secrets                                             get,create,update,patch                   all
/serviceaccounts                                     -                                         all
/serviceaccounts/token                               -                                         create
/services                                            -                                         all
/services/status                                     -                                         read
admissionregistration.k8s.io/mutatingadmissionpolicies            -                            -
admissionregistration.k8s.io/mutatingadmissionpolicybindings      -                            -
admissionregistration.k8s.io/mutatingwebhookconfigurations        -                            -
admissionregistration.k8s.io/validatingadmissionpolicies          -                            -
admissionregistration.k8s.io/validatingadmissionpolicies/status   -                            -
admissionregistration.k8s.io/validatingadmissionpolicybindings    -                            -
admissionregistration.k8s.io/validatingwebhookconfigurations      -                            -
apiextensions.k8s.io/customresourcedefinitions       -                                         -
apiextensions.k8s.io/customresourcedefinitions/status   -                                      -
apiregistration.k8s.io/apiservices                   -                                         -
apiregistration.k8s.io/apiservices/status            -                                         -
apps.karmada.io/workloadrebalancers                  -                                         -
apps.karmada.io/workloadrebalancers/status           -                                         -
apps/controllerrevisions                             -                                         read
apps/daemonsets                                      -                                         all
apps/daemonsets/status                               -                                         read
apps/deployments                                     -                                         all
apps/deployments/scale                               -                                         all
apps/deployments/status                              -                                         read
apps/replicasets                                     -                                         all
apps/replicasets/scale                               -                                         all
apps/replicasets/status                              -                                         read
apps/statefulsets                                    -                                         all
apps/statefulsets/scale                              -                                         all
apps/statefulsets/status                             -                                         read
authentication.k8s.io/selfsubjectreviews             create                                    create
authentication.k8s.io/tokenreviews                   -                                         -
authorization.k8s.io/localsubjectaccessreviews       -                                         -
authorization.k8s.io/selfsubjectaccessreviews        create                                    create
authorization.k8s.io/selfsubjectrulesreviews         create                                    create
authorization.k8s.io/subjectaccessreviews            -                                         -
autoscaling/horizontalpodautoscalers                 -                                         all
autoscaling/horizontalpodautoscalers/status          -                                         read
batch/cronjobs                                       -                                         all
batch/cronjobs/status                                -                                         read
batch/jobs                                           -                                         all
batch/jobs/status                                    -                                         read
certificates.k8s.io/certificatesigningrequests       get,list,watch,create,delete              -
certificates.k8s.io/certificatesigningrequests/approval   -                                    -
certificates.k8s.io/certificatesigningrequests/status     -                                    -
cluster.karmada.io/clusters                          get,list,watch,create,update,patch,delete -
cluster.karmada.io/clusters/proxy                    -                                         -
cluster.karmada.io/clusters/status                   get,update,patch                          -
config.karmada.io/resourceinterpretercustomizations  read                                      -
coordination.k8s.io/leases                           get,list,watch,create,update,patch        all
discovery.k8s.io/endpointslices                      -                                         read
events.k8s.io/events                                 create,patch                              all
lifeboat.dev/evacuationbudgets                       -                                         -
lifeboat.dev/evacuationbudgets/status                -                                         -
lifeboat.dev/evacuations                             -                                         -
lifeboat.dev/evacuations/status                      -                                         -
lifeboat.dev/evacuationslices                        -                                         -
lifeboat.dev/ledgerslices                            -                                         -
lifeboat.dev/simulatedmembers                        -                                         -
lifeboat.dev/simulatedmembers/status                 -                                         -
networking.k8s.io/ingressclasses                     -                                         -
networking.k8s.io/ingresses                          -                                         all
networking.k8s.io/ingresses/status                   -                                         read
networking.k8s.io/ipaddresses                        -                                         -
networking.k8s.io/networkpolicies                    -                                         all
networking.k8s.io/servicecidrs                       -                                         -
networking.k8s.io/servicecidrs/status                -                                         -
networking.karmada.io/multiclusteringresses          -                                         all
networking.karmada.io/multiclusteringresses/status   -                                         read
networking.karmada.io/multiclusterservices           -                                         all
networking.karmada.io/multiclusterservices/status    -                                         read
policy.karmada.io/clusteroverridepolicies            -                                         -
policy.karmada.io/clusterpropagationpolicies         -                                         -
policy.karmada.io/clustertaintpolicies               -                                         -
policy.karmada.io/overridepolicies                   -                                         all
policy.karmada.io/propagationpolicies                -                                         all
policy/poddisruptionbudgets                          -                                         all
policy/poddisruptionbudgets/status                   -                                         read
proxy.lifeboat.dev/clusters/attach                   get                                       -
proxy.lifeboat.dev/clusters/proxy                    -                                         -
rbac.authorization.k8s.io/clusterrolebindings        -                                         -
rbac.authorization.k8s.io/clusterroles               -                                         -
rbac.authorization.k8s.io/rolebindings               -                                         -
rbac.authorization.k8s.io/roles                      -                                         -
remedy.karmada.io/remedies                           -                                         -
scheduling.k8s.io/priorityclasses                    -                                         -
storage.k8s.io/csidrivers                            -                                         -
storage.k8s.io/csinodes                              -                                         -
storage.k8s.io/csistoragecapacities                  -                                         -
storage.k8s.io/storageclasses                        -                                         -
storage.k8s.io/volumeattachments                     -                                         -
storage.k8s.io/volumeattachments/status              -                                         -
storage.k8s.io/volumeattributesclasses               -                                         -
work.karmada.io/clusterresourcebindings              -                                         -
work.karmada.io/clusterresourcebindings/status       -                                         -
work.karmada.io/resourcebindings                     -                                         read
work.karmada.io/resourcebindings/status              -                                         read
work.karmada.io/works                                get,list,watch,update,patch               -
work.karmada.io/works/status                         get,update,patch                          -
`;

export type Column = "agent" | "tenant";

/** By the id of a resource: the verbs of each column. */
export const ACCESS: ReadonlyMap<string, Readonly<Record<Column, ReadonlySet<Verb>>>> = new Map(
  TABLE.trim()
    .split("\n")
    .map((line) => {
      const [id = "", agent = "", tenant = ""] = line.trim().split(/ +/);
      return [id, { agent: verbsOf(agent), tenant: verbsOf(tenant) }] as const;
    }),
);

function verbsOf(text: string): ReadonlySet<Verb> {
  if (text === "-") return new Set();
  if (text === "read") return new Set(READ);
  if (text === "all") return new Set([...READ, ...WRITE]);
  return new Set(text.split(",") as Verb[]);
}

export const CLUSTER = "eu-1";
export const OTHER = "eu-2";
export const TENANT_NAMESPACE = "team-a";
const EXECUTION = `karmada-es-${CLUSTER}`;

/** A place is an object, or with an empty name the whole collection of a namespace; an empty namespace is all of them. */
export type IsOwn = (namespace: string, name: string) => boolean;

const named = (...places: readonly string[]): IsOwn => {
  const all = new Set(places);
  return (namespace, name) => all.has(`${namespace}/${name}`);
};
const everywhere: IsOwn = () => true;
const events: IsOwn = (namespace, name) =>
  namespace === EXECUTION || (namespace === "default" && name === `of-${CLUSTER}`);

/** What belongs to the agent's cluster, of the kinds that have something of it. */
const AGENTS: Readonly<Record<string, IsOwn>> = {
  "/events": events,
  "events.k8s.io/events": events,
  "/namespaces": named(`/${EXECUTION}`),
  "/secrets": named(`karmada-cluster/${CLUSTER}`, `karmada-cluster/${CLUSTER}-impersonator`),
  "certificates.k8s.io/certificatesigningrequests": named(`/agent-${CLUSTER}`),
  "cluster.karmada.io/clusters": named(`/${CLUSTER}`),
  "cluster.karmada.io/clusters/status": named(`/${CLUSTER}`),
  "config.karmada.io/resourceinterpretercustomizations": everywhere,
  "coordination.k8s.io/leases": named(`karmada-cluster/${CLUSTER}`),
  "proxy.lifeboat.dev/clusters/attach": named(`/${CLUSTER}`),
  "work.karmada.io/works": (namespace) => namespace === EXECUTION,
  "work.karmada.io/works/status": (namespace) => namespace === EXECUTION,
};

export interface Asked {
  readonly id: string;
  readonly verb: Verb;
  readonly namespace: string;
  /** Empty: the whole collection. */
  readonly name: string;
  /** Whether the name is in a field selector, and not in the path. */
  readonly isSelected?: boolean;
}

/** Whether a request is one that the table allows. */
export function isAllowed(column: Column, asked: Asked): boolean {
  const { id, verb, namespace, name } = asked;
  if (isPublic(asked)) return true;
  if (ACCESS.get(id)?.[column].has(verb) !== true) return false;
  // What asks about the user itself belongs to every user.
  if (id.startsWith("authentication.") || id.startsWith("authorization.")) return true;
  if (column === "agent") return AGENTS[id]?.(namespace, name) ?? false;
  // As on a real server: a Namespace counts as in itself where the path names it, not where a selector does.
  if (id.startsWith("/namespaces")) return name === TENANT_NAMESPACE && asked.isSelected !== true;
  return namespace === TENANT_NAMESPACE;
}

/** The address and the authority of the control plane: for everyone. */
function isPublic({ id, verb, namespace, name }: Asked): boolean {
  const isIt = id === "/configmaps" && `${namespace}/${name}` === "kube-public/cluster-info";
  return isIt && READ.includes(verb);
}
