/**
 * One instance of the detector of a member, as it runs on a node there: the product's own, life after life, with a name server that works
 * or does not.
 *
 * 1. It reaches the plane over a link of its own, as the user of the cluster's detector: RBAC and admission answer it.
 * 2. The API of the member is not needed: a member that is down is detected about all the same.
 * 3. `witness` knows every detection, as the name server would.
 */
import { clusters, namespaces, orNothing, type Resource } from "@lifeboat/api";
import type { User } from "@lifeboat/apiserver";
import { assert, createSeededIds, type Random, type VirtualClock } from "@lifeboat/base";
import { createUnlessThere } from "@lifeboat/controllers/context";
import { createClusterDetector } from "@lifeboat/controllers/member-side";
import { wellKnown } from "@lifeboat/core";
import { detectorRoleObjects, DETECTORS_GROUP, detectorUser } from "@lifeboat/core/clusters/rights";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { type Client, type Log, NotSent, silentMetrics } from "@lifeboat/kit";
import type { Link } from "./network/link.ts";
import { SimClient, type WriteWatcher } from "./network/sim-client.ts";
import type { Witness } from "./oracles/witness.ts";
import { Process } from "./process.ts";

const SECOND_MS = 1000;
export const DETECTOR_PERIOD_MS = 5 * SECOND_MS;
/** As `lifeboat detector` starts. */
const TIMES = Object.freeze({
  periodMs: DETECTOR_PERIOD_MS,
  failureThresholdMs: 30 * SECOND_MS,
  successThresholdMs: 30 * SECOND_MS,
  staleThresholdMs: 60 * SECOND_MS,
});

export interface DetectorProcessPorts {
  /** The member and the node: `m1/a`. */
  readonly name: string;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly log: Log;
  /** To the plane. */
  readonly link: Link;
  readonly plane: {
    readonly clientOf: (user: User) => Client | undefined;
    readonly standsStillFor: () => number;
  };
  readonly writes: WriteWatcher;
  readonly witness: Witness;
}

export class DetectorProcess {
  readonly link: Link;
  readonly cluster: string;
  readonly #host: string;
  readonly #ports: DetectorProcessPorts;
  #resolves = true;
  #life: Process | undefined;
  #lives = 0;

  constructor(ports: DetectorProcessPorts) {
    this.#ports = ports;
    this.link = ports.link;
    const [cluster = "", host = ""] = ports.name.split("/");
    this.cluster = cluster;
    this.#host = host;
  }

  get running(): boolean {
    return this.#life !== undefined;
  }

  /** Whether names resolve on its node from now on. */
  resolve(isOn: boolean): void {
    this.#resolves = isOn;
  }

  /** Begins the next life. */
  start(): void {
    assert(this.#life === undefined, "a detector is started when it is dead");
    const { name, clock, log, link, plane, writes, witness } = this.#ports;
    this.#lives += 1;
    const process = new Process(`detector ${name}#${this.#lives}`, clock);
    this.#life = process;
    witness.detectorBegins(name);
    const random = this.#ports.random.fork(process.name);
    const ids = createSeededIds(random.fork("ids"));
    const ports = { clock: process.clock, random, log, metrics: silentMetrics, ids };
    const user = {
      name: detectorUser(this.cluster),
      groups: [DETECTORS_GROUP, "system:authenticated"],
    };
    const target = (): Client | undefined => plane.clientOf(user);
    const standsStill = plane.standsStillFor;
    const detector = createClusterDetector(ports, {
      ...TIMES,
      cluster: this.cluster,
      host: this.#host,
      condition: wellKnown.NAME_RESOLUTION,
      plane: new SimClient({ caller: process, link, target, writes, standsStill }),
      probe: () => {
        const resolves = this.#resolves;
        witness.detected(name, resolves);
        return Promise.resolve(resolves);
      },
    });
    void detector.run(new AbortController().signal);
  }

  crash(): void {
    this.#life?.die();
    this.#life = undefined;
    this.#ports.witness.detectorEnds(this.#ports.name);
  }

  /** Stands still for so long. */
  pause(milliseconds: number): void {
    this.#life?.pause(milliseconds);
  }
}

/** A person gives the detector of a cluster its rights, once the cluster has its namespace. */
export async function registerDetectorOf(plane: Client, cluster: string): Promise<void> {
  const found = await orNothing(plane.get(clusters, { namespace: "", name: cluster }));
  const home = { namespace: "", name: executionNamespace(cluster) };
  if (found === undefined || (await orNothing(plane.get(namespaces, home))) === undefined)
    throw new NotSent("the cluster has no namespace yet");
  for (const object of detectorRoleObjects(cluster))
    await createUnlessThere(plane, resourceOf(String(object["kind"])), object);
}

function resourceOf(kind: string): Resource {
  return {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: !kind.startsWith("Cluster"),
  };
}
