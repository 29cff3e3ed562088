/**
 * Publishes, on each MultiClusterIngress, where its requests can go: the annotation `lifeboat.dev/backends`. Load balancers read
 * nothing else of the control plane, and confirm its generation on their Leases (D27).
 *
 *   ingress, Works, bindings and MultiClusterServices of its namespace, Clusters (caches) ──▶ decideBackends ──▶ one patch, if something changed
 *
 * What an ingress asks for and cannot get is reported once, by an Event: what is not valid, what an older ingress has, and addresses
 * that are never dialled. Load balancers read Secrets, this controller does not: a certificate that cannot be used is in their log alone.
 */
import {
  type Cluster,
  findCondition,
  formatKey,
  isRefused,
  keyOf,
  type MultiClusterIngress,
  multiClusterIngresses,
  type ObjectKey,
  type ResourceBinding,
  type Work,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import {
  assembleTable,
  type BackendsView,
  compileIngress,
  type CompiledIngress,
  type Copies,
  decideBackends,
  formatBackends,
  publishedBackends,
  serviceNames,
} from "@lifeboat/core/traffic";
import {
  createController,
  done,
  judgeBackend,
  type Outcome,
  ownKey,
  type Service,
  watching,
  whenChanged,
} from "@lifeboat/kit";
import { bindingsBy, bindingsOfWork } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { kindIndexValue } from "../../context/informers.ts";
import { worksOf } from "../../context/observe-works.ts";

const CONCURRENCY = 4;

/** Builds the controller. */
export function createTrafficBackends(context: PlaneContext): readonly Service[] {
  const { informers } = context;
  const backends = new TrafficBackends(context);
  return [
    createController(context, {
      name: "traffic-backends",
      concurrency: CONCURRENCY,
      watches: [
        watching(informers.multiClusterIngresses, ownKey),
        watching(informers.resourceBindings, (old, now) =>
          ingressesIn(context, (now ?? old)?.metadata.namespace),
        ),
        watching(informers.multiClusterServices, (old, now) =>
          ingressesIn(context, (now ?? old)?.metadata.namespace),
        ),
        watching(informers.works, (old, now) => ingressesOfWork(context, now ?? old)),
        watching(
          informers.clusters,
          whenChanged(reportOf, (cluster) => ingressesOf(context, cluster)),
        ),
      ],
      reconcile: (key, signal) => backends.look(key, signal),
    }),
  ];
}

class TrafficBackends {
  readonly #context: PlaneContext;
  /** By ingress: the problems that were last reported. */
  readonly #told = new Map<string, string>();
  /** Objects of a cache are frozen: what follows from one is so for as long as it is. */
  readonly #compiled = new WeakMap<MultiClusterIngress, CompiledIngress>();

  constructor(context: PlaneContext) {
    this.#context = context;
  }

  async look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { informers, plane, clock } = this.#context;
    const ingress = informers.multiClusterIngresses.get(key);
    if (ingress === undefined || ingress.metadata.deletionTimestamp !== undefined) {
      this.#told.delete(formatKey(key));
      return done;
    }
    this.#tell(ingress);
    const before = publishedBackends(ingress);
    const wanted = decideBackends(this.#view(ingress), clock.now());
    if (wanted.generation === before.generation) return done;
    const { uid, resourceVersion } = ingress.metadata;
    const annotations = { [wellKnown.BACKENDS]: formatBackends(wanted) };
    const body = { metadata: { uid, resourceVersion, annotations } };
    try {
      await plane.patch(multiClusterIngresses, key, { type: "merge", body }, { signal });
    } catch (error) {
      // Load balancers go on with the backends of before, which may be gone by now.
      if (isRefused(error, "Invalid") || isRefused(error, "RequestEntityTooLarge"))
        this.#record(
          ingress,
          `The backends of this ingress have changed and cannot be published: ${error.message}`,
        );
      throw error;
    }
    return done;
  }

  #view(ingress: MultiClusterIngress): BackendsView {
    const { informers } = this.#context;
    const { namespace = "" } = ingress.metadata;
    const all = bindingsBy(informers, "kind", kindIndexValue(undefined, namespace));
    const copiesOf = (binding: ResourceBinding): Copies => ({
      binding,
      works: worksOf(this.#context, binding),
    });
    const names = new Set(serviceNames(ingress));
    const isService = ({ spec }: ResourceBinding): boolean =>
      spec.resource.kind === "Service" && spec.resource.apiVersion === "v1";
    const services = all.filter((one) => isService(one) && names.has(one.spec.resource.name));
    return {
      ingress,
      services: new Map(services.map((one) => [one.spec.resource.name, copiesOf(one)])),
      workloads: all.filter((one) => !isService(one)).map(copiesOf),
      exposures: new Map(
        [...names].flatMap((name) => {
          const exposure = informers.multiClusterServices.get({ namespace, name });
          return exposure === undefined ? [] : [[name, exposure] as const];
        }),
      ),
      clusters: new Map(informers.clusters.list().map((one) => [one.metadata.name, one])),
    };
  }

  /** As load balancers do, with the addresses that they never dial. */
  #compile(ingress: MultiClusterIngress): CompiledIngress {
    const known = this.#compiled.get(ingress) ?? compileIngress(ingress, judgeBackend);
    this.#compiled.set(ingress, known);
    return known;
  }

  #tell(ingress: MultiClusterIngress): void {
    const id = formatKey(keyOf(ingress));
    const all = this.#context.informers.multiClusterIngresses.list();
    const others = all.filter((one) => one !== ingress && mayMeet(one, ingress));
    const parts = [ingress, ...others].map((one) => this.#compile(one));
    const problems = assembleTable(parts).problems.filter((one) => one.ingress === id);
    const text = problems.map(({ field, message }) => `${field}: ${message}`).join("; ");
    if (text === (this.#told.get(id) ?? "")) return;
    this.#told.set(id, text);
    if (text === "") return;
    this.#record(ingress, `A part of this ingress is not served: ${text}`);
  }

  #record(ingress: MultiClusterIngress, message: string): void {
    const event = { type: "Warning", reason: "IngressNotServed" } as const;
    this.#context.events.record(ingress, { ...event, message: message.slice(0, 840) });
  }
}

/** Whether one load balancer may serve both. */
function mayMeet(one: MultiClusterIngress, other: MultiClusterIngress): boolean {
  const [a = "", b = ""] = [one.spec.ingressClassName, other.spec.ingressClassName];
  return a === b || a === "" || b === "";
}

function ingressesIn({ informers }: PlaneContext, namespace = ""): readonly ObjectKey[] {
  return informers.multiClusterIngresses.byIndex("namespace", namespace).map(keyOf);
}

function ingressesOfWork(context: PlaneContext, work: Work | undefined): readonly ObjectKey[] {
  if (context.informers.multiClusterIngresses.size === 0) return [];
  const [binding] = bindingsOfWork(context.informers, work);
  return binding === undefined ? [] : ingressesIn(context, binding.metadata.namespace);
}

function ingressesOf({ informers }: PlaneContext, { metadata }: Cluster): readonly ObjectKey[] {
  const { name } = metadata;
  return informers.multiClusterIngresses
    .list()
    .filter((ingress) =>
      Object.values(publishedBackends(ingress).services).some(({ clusters }) =>
        Object.hasOwn(clusters, name),
      ),
    )
    .map(keyOf);
}

/** What counts of a Cluster. */
function reportOf({ status: reported }: Cluster): string {
  const { conditions, nodeAddresses = [] } = reported ?? {};
  const { status, lastTransitionTime } = findCondition(conditions, "Ready") ?? {};
  return [status, lastTransitionTime, ...nodeAddresses].join(" ");
}
