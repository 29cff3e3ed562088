/** Objects and histories made up for oracles: one workload, `web`, and the clusters m1, m2 and m3. */
import { wellKnown } from "@lifeboat/core";
import { executionNamespace, workName } from "@lifeboat/core/propagation/rendering";
import { expect, it } from "vitest";
import { type Circumstances, PLAIN } from "./circumstances.ts";
import { judged } from "./judged.suite.ts";
import { convergedOracles } from "./oracles.ts";

type Fields = Readonly<Record<string, unknown>>;

const BINDING = "work.karmada.io/resourcebindings/default/web-deployment";
const NAMES = {
  [wellKnown.BINDING_NAMESPACE]: "default",
  [wellKnown.BINDING_NAME]: "web-deployment",
};
const WORK = workName({ kind: "Deployment", namespace: "default", name: "web" });
const GOING = { deletionTimestamp: "2026-01-01T00:00:00Z" };

export interface BindingParts {
  /** Replicas by cluster. */
  readonly on?: Readonly<Record<string, number>>;
  readonly tasks?: readonly Fields[];
  readonly generation?: number;
  /** The generation that the scheduler has seen; absent: this one. */
  readonly seen?: number;
  readonly annotations?: Fields;
  readonly labels?: Fields;
  readonly replicas?: number;
  readonly placement?: Fields;
  readonly failover?: Fields;
  /** The clusters in which another workload needs it. */
  readonly requiredIn?: readonly string[];
  /** The clusters that its status shows. */
  readonly shown?: readonly string[];
  /** The group of clusters that is in use. */
  readonly group?: string;
}

/** A history to write, with what oracles say of it. */
export class History {
  readonly #judged: ReturnType<typeof judged>;

  constructor(circumstances: Circumstances = PLAIN) {
    this.#judged = judged(circumstances);
    for (const name of ["m1", "m2", "m3"]) this.cluster(name);
    for (const name of ["m1", "m2", "m3"])
      this.put(name, "/namespaces//default", { kind: "Namespace", metadata: { name: "default" } });
  }

  /** Whether an oracle spoke, of a change or of the end. */
  hasSpoken(oracle: string): boolean {
    const { said, truth } = this.#judged;
    const atEnd = convergedOracles.find(({ name }) => name === oracle);
    return (
      said.some((text) => text.startsWith(`${oracle}:`)) ||
      (atEnd?.judge(truth, ["m1", "m2", "m3"]) ?? []).length > 0
    );
  }

  pass(seconds: number): void {
    this.#judged.pass(seconds * 1000);
  }

  /** Writes an object, or removes it when there is none. */
  put(server: string, key: string, object: object | undefined): void {
    const { ledger, write } = this.#judged;
    const isThere = ledger.versions(server).has(key);
    if (object === undefined) write(server, key, { metadata: {} }, "DELETED");
    else write(server, key, object, isThere ? "MODIFIED" : "ADDED");
  }

  cluster(name: string, ready = "True", extra: Fields = {}, spec: Fields = {}): void {
    this.put("plane", `cluster.karmada.io/clusters//${name}`, {
      kind: "Cluster",
      metadata: { name, uid: `uid-of-${name}`, generation: 1, ...extra },
      spec,
      status: { conditions: [{ type: "Ready", status: ready }] },
    });
  }

  noCluster(name: string): void {
    this.put("plane", `cluster.karmada.io/clusters//${name}`, undefined);
  }

  template(generation = 1, spec: Fields = {}, labels: Fields = { app: "web" }): void {
    this.put("plane", "apps/deployments/default/web", {
      kind: "Deployment",
      metadata: { name: "web", namespace: "default", uid: "uid-of-web", generation, labels },
      spec: { replicas: 2, ...spec },
    });
  }

  binding(parts: BindingParts): void {
    const { on = {}, tasks, generation = 1, seen = generation, annotations, labels } = parts;
    const { replicas = 2, placement = {}, failover, requiredIn, shown = [], group } = parts;
    const applied = { [wellKnown.APPLIED_PLACEMENT]: JSON.stringify(placement) };
    this.put("plane", BINDING, {
      kind: "ResourceBinding",
      metadata: {
        name: "web-deployment",
        namespace: "default",
        uid: "uid-of-binding",
        generation,
        labels: { [wellKnown.BINDING_ID]: "id", ...labels },
        annotations: { ...applied, ...annotations },
      },
      spec: {
        resource: { kind: "Deployment", namespace: "default", name: "web" },
        replicas,
        placement,
        clusters: Object.entries(on).map(([name, share]) => ({ name, replicas: share })),
        ...(tasks !== undefined && { gracefulEvictionTasks: tasks }),
        ...(failover !== undefined && { failover }),
        ...(requiredIn !== undefined && {
          requiredBy: [
            { namespace: "default", name: "other", clusters: requiredIn.map((name) => ({ name })) },
          ],
        }),
      },
      status: {
        schedulerObservedGeneration: seen,
        ...(group !== undefined && { schedulerObservingAffinityName: group }),
        conditions: [{ type: "Scheduled", status: "True" }],
        aggregatedStatus: shown.map((clusterName) => ({ clusterName })),
      },
    });
  }

  /** The Work in a cluster; `status` is what its copy reports. */
  work(
    cluster: string,
    { going = false, health = "Healthy", status = {}, labels = {}, ...more }: WorkParts = {},
  ): void {
    const { generation = 1, spec = { replicas: 2 }, annotations = {}, seen = generation } = more;
    const { uid = `uid-of-work-in-${cluster}`, purgeMode } = more;
    const conditions = ["Applied", "StatusObserved"].map((type) => ({
      type,
      status: "True",
      observedGeneration: seen,
    }));
    const metadata = { name: "web", namespace: "default", labels, annotations };
    this.put("plane", `work.karmada.io/works/${executionNamespace(cluster)}/${WORK}`, {
      kind: "Work",
      metadata: {
        name: WORK,
        namespace: executionNamespace(cluster),
        uid,
        generation,
        labels: { [wellKnown.BINDING_ID]: "id" },
        annotations: {
          ...NAMES,
          ...(purgeMode !== undefined && { [wellKnown.PURGE_MODE]: purgeMode }),
        },
        ...(going && GOING),
      },
      spec: { workload: { manifests: [{ kind: "Deployment", metadata, spec }] } },
      status: { conditions, manifestStatuses: [{ health, status }] },
    });
  }

  noWork(cluster: string): void {
    this.put("plane", `work.karmada.io/works/${executionNamespace(cluster)}/${WORK}`, undefined);
  }

  copy(member: string, ready: number, { going = false, labels = {}, replicas = 1 } = {}): void {
    this.put(member, "apps/deployments/default/web", {
      kind: "Deployment",
      metadata: {
        name: "web",
        namespace: "default",
        uid: `uid-of-copy-in-${member}`,
        labels: { [wellKnown.MANAGED]: "true", ...labels },
        annotations: {
          ...NAMES,
          [wellKnown.WORK_NAME]: WORK,
          [wellKnown.WORK_NAMESPACE]: executionNamespace(member),
        },
        ...(going && GOING),
      },
      ...(replicas > 1 && { spec: { replicas } }),
      status: { readyReplicas: ready },
    });
  }

  noCopy(member: string): void {
    this.put(member, "apps/deployments/default/web", undefined);
  }

  pod(member: string): void {
    const metadata = { name: "web-1", namespace: "default", labels: { app: "web" } };
    this.put(member, "/pods/default/web-1", { kind: "Pod", metadata });
  }

  noPod(member: string): void {
    this.put(member, "/pods/default/web-1", undefined);
  }
}

interface WorkParts {
  readonly uid?: string;
  readonly going?: boolean;
  /** How the Work goes; gracefully when absent. */
  readonly purgeMode?: string;
  readonly health?: string;
  readonly status?: Fields;
  readonly labels?: Fields;
  readonly generation?: number;
  readonly seen?: number;
  readonly spec?: Fields;
  readonly annotations?: Fields;
}

/** A history that breaks a promise, or keeps it. */
export type Case = readonly [
  oracle: string,
  verdict: "broken" | "kept",
  when: string,
  write: (history: History) => void,
  circumstances?: Partial<Circumstances>,
];

/** Tests that each oracle says of each history what it should. */
export function itJudges(cases: readonly Case[]): void {
  for (const [oracle, verdict, when, write, circumstances = {}] of cases)
    it(`${oracle} is ${verdict} when ${when}`, () => {
      const history = new History({ ...PLAIN, ...circumstances });
      write(history);
      expect(history.hasSpoken(oracle)).toBe(verdict === "broken");
    });
}

export function task(fromCluster: string, more: Fields = {}): Fields {
  return { fromCluster, purgeMode: "Gracefully", producer: "TaintManager", ...more };
}

export function directTask(fromCluster: string, more: Fields = {}): Fields {
  return task(fromCluster, { purgeMode: "Directly", ...more });
}
