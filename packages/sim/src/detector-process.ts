/**
 * One instance of the detector of a member, as it runs on a node there: the product's own, with a name server that works or does not.
 *
 * 1. It reaches the plane as the user of the cluster's detector.
 * 2. The API of the member is not needed: a member that is down is detected about all the same.
 * 3. `witness` knows every detection, as the name server would.
 */
import { clusters, namespaces, orNothing, type Resource } from "@lifeboat/api";
import { createSeededIds } from "@lifeboat/base";
import { createUnlessThere } from "@lifeboat/controllers/context";
import { createClusterDetector } from "@lifeboat/controllers/member-side";
import { wellKnown } from "@lifeboat/core";
import { detectorRoleObjects, DETECTORS_GROUP, detectorUser } from "@lifeboat/core/clusters/rights";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { type Client, NotSent } from "@lifeboat/kit";
import type { Witness } from "./oracles/witness.ts";
import { type BesidePorts, type Life, ProcessBeside } from "./process-beside.ts";

const SECOND_MS = 1000;
export const DETECTOR_PERIOD_MS = 5 * SECOND_MS;
/** As `lifeboat detector` starts. */
const TIMES = Object.freeze({
  periodMs: DETECTOR_PERIOD_MS,
  failureThresholdMs: 30 * SECOND_MS,
  successThresholdMs: 30 * SECOND_MS,
  staleThresholdMs: 60 * SECOND_MS,
});

export interface DetectorProcessPorts extends BesidePorts {
  /** The member and the node: `m1/a`. */
  readonly name: string;
  readonly witness: Witness;
}

export class DetectorProcess extends ProcessBeside<DetectorProcessPorts> {
  readonly cluster: string;
  readonly #host: string;
  #resolves = true;

  constructor(ports: DetectorProcessPorts) {
    const [cluster = "", host = ""] = ports.name.split("/");
    const groups = [DETECTORS_GROUP, "system:authenticated"];
    super(ports, `detector ${ports.name}`, { name: detectorUser(cluster), groups });
    this.cluster = cluster;
    this.#host = host;
  }

  /** Whether names resolve on its node from now on. */
  resolve(isOn: boolean): void {
    this.#resolves = isOn;
  }

  protected run({ kit, client }: Life): void {
    const { name, witness } = this.ports;
    witness.detectorBegins(name);
    const ids = createSeededIds(kit.random.fork("ids"));
    const detector = createClusterDetector(
      { ...kit, ids },
      {
        ...TIMES,
        cluster: this.cluster,
        host: this.#host,
        condition: wellKnown.NAME_RESOLUTION,
        plane: client,
        probe: () => {
          const resolves = this.#resolves;
          witness.detected(name, resolves);
          return Promise.resolve(resolves);
        },
      },
    );
    void detector.run(new AbortController().signal);
  }

  protected override ended(): void {
    this.ports.witness.detectorEnds(this.ports.name);
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
