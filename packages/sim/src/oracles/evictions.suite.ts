/** Evictions made up for oracles: a fleet with taints, bindings, what was written down of them, and who leaves when. */
import { wellKnown } from "@lifeboat/core";
import { DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { type Circumstances, PLAIN } from "./circumstances.ts";
import { judged } from "./judged.suite.ts";
import { convergedOracles } from "./oracles.ts";

type Fields = Readonly<Record<string, unknown>>;

const TIME = "2026-01-01T00:00:00Z";
export const FAULTY = { key: "test/faulty", effect: "NoExecute", timeAdded: TIME };
const BINDINGS = "work.karmada.io/resourcebindings/default";
const OPTIONS = { ...DEFAULT_CONTROLLERS, failover: true };

/**
 * A history of a fleet m1, m2 and m3 with the gate Failover on, and what oracles say of it. Bindings are of Deployments;
 * those whose name begins with `config-` are of ConfigMaps, which have a lane of their own.
 */
export class Evictions {
  readonly #judged: ReturnType<typeof judged>;

  constructor(circumstances: Partial<Circumstances> = {}) {
    this.#judged = judged({ ...PLAIN, ...circumstances });
    this.restart();
    for (const name of ["m1", "m2", "m3"]) this.cluster(name);
    this.pass(10);
  }

  /** Whether an oracle spoke, of a change or of the end. */
  hasSpoken(oracle: string): boolean {
    const { said, truth } = this.#judged;
    const atEnd = convergedOracles.find(({ name }) => name === oracle);
    const atLast = atEnd?.judge(truth, ["m1", "m2", "m3"]) ?? [];
    return said.some((text) => text.startsWith(`${oracle}:`)) || atLast.length > 0;
  }

  pass(seconds: number): void {
    this.#judged.pass(seconds * 1000);
  }

  /** The next life of the plane begins. */
  restart(): void {
    const { witness } = this.#judged.truth;
    witness.ended();
    witness.begins(OPTIONS);
  }

  cluster(name: string, ...taints: readonly Fields[]): void {
    this.put(`cluster.karmada.io/clusters//${name}`, {
      kind: "Cluster",
      metadata: { name, uid: name },
      spec: { taints },
    });
  }

  /** Bindings that are on a cluster, and are written down for the taint of it. */
  on(cluster: string, ...names: readonly string[]): void {
    for (const name of names) this.#binding(name, [cluster], []);
  }

  /** A binding that is on a cluster, and may be nowhere else. */
  onlyOn(cluster: string, name: string): void {
    this.#binding(name, [cluster], [], { clusterAffinity: { clusterNames: [cluster] } });
  }

  /** A binding that is in all clusters of its first group, and has a second one. */
  inFirstGroup(first: readonly string[], second: readonly string[], name: string): void {
    const clusterAffinities = [first, second].map((clusterNames) => ({ clusterNames }));
    this.#binding(name, first, [], { clusterAffinities });
  }

  /** That these are to leave a cluster. */
  recorded(cluster: string, ...names: readonly string[]): void {
    this.put(`lifeboat.dev/evacuationslices//${cluster}-1-x-0`, {
      kind: "EvacuationSlice",
      metadata: { name: `${cluster}-1-x-0` },
      spec: {
        evacuation: `${cluster}-1`,
        taint: FAULTY,
        entries: names.map((name) => ({
          binding: { kind: "ResourceBinding", namespace: "default", name, uid: name },
          purgeMode: "Gracefully",
        })),
      },
    });
  }

  /** A binding leaves a cluster for its taint. */
  evict(name: string, cluster: string): void {
    this.#binding(name, [], [cluster]);
  }

  evacuation(name: string, spec: Fields = {}, status: Fields = {}): void {
    const cluster = name.slice(0, name.lastIndexOf("-"));
    this.put(`lifeboat.dev/evacuations//${name}`, {
      kind: "Evacuation",
      metadata: { name },
      spec: { cluster, ...spec },
      status,
    });
  }

  budget(status: Fields, spec: Fields = {}): void {
    const metadata = { name: "fleet" };
    this.put("lifeboat.dev/evacuationbudgets//fleet", {
      kind: "EvacuationBudget",
      metadata,
      spec,
      status,
    });
  }

  /** Writes an object of the plane. */
  put(key: string, object: object): void {
    const { ledger, write } = this.#judged;
    write("plane", key, object, ledger.versions("plane").has(key) ? "MODIFIED" : "ADDED");
  }

  #binding(
    name: string,
    on: readonly string[],
    left: readonly string[],
    placement: Fields = {},
  ): void {
    const mark = `x ${FAULTY.key}:${FAULTY.effect}@${TIME}`;
    const marks = JSON.stringify(Object.fromEntries(left.map((cluster) => [cluster, mark])));
    this.put(`${BINDINGS}/${name}`, {
      kind: "ResourceBinding",
      metadata: {
        name,
        namespace: "default",
        uid: name,
        annotations: left.length > 0 ? { [wellKnown.EVICTED_FOR]: marks } : {},
      },
      spec: {
        resource: {
          kind: name.startsWith("config-") ? "ConfigMap" : "Deployment",
          namespace: "default",
          name,
        },
        placement,
        clusters: on.map((cluster) => ({ name: cluster })),
        gracefulEvictionTasks: left.map((fromCluster) => ({
          fromCluster,
          producer: "TaintManager",
          purgeMode: "Gracefully",
        })),
      },
    });
  }
}
