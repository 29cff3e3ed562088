/** Bindings, Clusters and Works for the tests of this folder. */
import type { Cluster, Condition, ResourceBinding, Work } from "@lifeboat/api";
import type { Fields } from "../../fields.ts";
import { decideWorks, type WorksCommand, type WorksPlan, type WorksView } from "./decide-works.ts";

export const template: Fields = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "default", name: "nginx", uid: "uid-1", generation: 3 },
  spec: { replicas: 2, selector: {} },
};
export const WORK_NAME = "nginx-687f7fb96f";
const metadata = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

export function binding(
  spec: Partial<ResourceBinding["spec"]> = {},
  meta: Partial<ResourceBinding["metadata"]> = {},
): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      ...metadata,
      namespace: "default",
      name: "nginx-deployment",
      labels: { "resourcebinding.karmada.io/permanent-id": "rb-1" },
      finalizers: ["karmada.io/binding-controller"],
      ...meta,
    },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "nginx" },
      conflictResolution: "Abort",
      ...spec,
    },
  };
}

export function cluster(name: string, meta: Partial<Cluster["metadata"]> = {}): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { ...metadata, name, ...meta },
    spec: { syncMode: "Push" },
  };
}

export function view(changes: Partial<WorksView> = {}): WorksView {
  const names = ["a", "b", "c", "d"];
  return {
    binding: binding(),
    template,
    works: [],
    occupants: new Map(),
    clusters: new Map(names.map((name) => [name, cluster(name)])),
    clusterOverridePolicies: [],
    overridePolicies: [],
    neededIn: new Set(),
    revised: new Map(),
    newWorkIds: new Map(names.map((name) => [name, `work-${name}`])),
    ...changes,
  };
}

/** The Work as the controller makes it for this binding, as the server then holds it. */
export function workIn(
  name: string,
  changes: {
    readonly meta?: Partial<Work["metadata"]>;
    readonly spec?: Partial<Work["spec"]>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly health?: "Healthy" | "Unhealthy";
    readonly of?: ResourceBinding;
  } = {},
): Work {
  const of = changes.of ?? binding({ clusters: [{ name }] });
  const { spec } = of;
  const only = { ...of, spec: { ...spec, clusters: [{ name }], gracefulEvictionTasks: [] } };
  const made = decideWorks(view({ binding: only })).commands.find(({ kind }) => kind === "create");
  if (made?.kind !== "create") throw new Error("nothing was made");
  const { annotations } = made.work.metadata;
  return {
    ...made.work,
    metadata: {
      ...metadata,
      ...made.work.metadata,
      name: WORK_NAME,
      uid: `uid-${name}`,
      generation: 1,
      annotations: { ...annotations, ...changes.annotations },
      ...changes.meta,
    },
    spec: { ...made.work.spec, ...changes.spec },
    ...(changes.health === undefined ? {} : { status: statusOf(changes.health) }),
  } as Work;
}

function statusOf(health: "Healthy" | "Unhealthy"): Work["status"] {
  const condition = (type: string): Condition => ({
    type,
    status: "True",
    reason: type,
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    observedGeneration: 1,
  });
  const identifier = { ordinal: 0, version: "v1", kind: "Deployment", resource: "", name: "nginx" };
  return {
    conditions: [condition("Applied"), condition("StatusObserved")],
    manifestStatuses: [{ identifier, health }],
  };
}

/** Commands as short texts, such as `create a`, `delete b Descheduled`. */
export function told({ commands }: WorksPlan): readonly string[] {
  return commands.map((command: WorksCommand) => {
    if (!("cluster" in command)) return command.kind;
    const cause = command.kind === "delete" ? ` ${command.cause}` : "";
    return `${command.kind} ${command.cluster}${cause}`;
  });
}
