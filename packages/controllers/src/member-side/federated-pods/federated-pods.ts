/**
 * Labels the pods of federated StatefulSets in one member: their own name, their number, and where the cluster is (D15).
 *
 *   Work of a federated StatefulSet ──▶ pods are watched ──▶ `podLabelsToSet` ──▶ one patch per pod
 *
 * 1. Pods are watched only once a Work of this cluster holds a federated StatefulSet, and then only pods of such sets: a
 *    member without one costs nothing.
 * 2. A patch carries the uid and the version of the pod that it was decided on.
 * 3. How many pods form a quorum now is read from the Work of the copy; a pod keeps the label that it got first.
 * 4. It needs the member alone: it goes on while the plane is out of reach.
 */
import {
  type AnyObject,
  type Cluster,
  isRefused,
  keyOf,
  pods as podResource,
  type Work,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { copyName, podLabelsToSet } from "@lifeboat/core/federated";
import {
  type Client,
  type CollectionLimits,
  type ControllerWatch,
  createController,
  createManager,
  done,
  Informer,
  type KitPorts,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";

export interface FederatedPodsParts {
  readonly member: Client;
  /** The Cluster of the member; absent: where it is is not known. */
  readonly own?: (() => Cluster | undefined) | undefined;
  readonly limits?: CollectionLimits | undefined;
}

export interface FederatedPods extends Service {
  /** Takes in a Work of the cluster, as often as it changes. */
  see(work: Work | undefined): void;
}

/** The service that labels pods. */
export function createFederatedPods(ports: KitPorts, parts: FederatedPodsParts): FederatedPods {
  let isNeeded = false;
  let begin: () => void = () => undefined;
  const founders = new Founders();
  return {
    name: "federated-pods",
    see: (work) => {
      founders.see(work);
      if (isNeeded || !holdsFederatedSet(work)) return;
      isNeeded = true;
      begin();
    },
    run: async (signal) => {
      await new Promise<void>((resolve) => {
        begin = resolve;
        if (isNeeded || signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      if (signal.aborted) return;
      const informer = new Informer<AnyObject>(ports, parts.member, podResource, {
        labelSelector: wellKnown.FEDERATED_SET,
        ...(parts.limits && { limits: parts.limits }),
      });
      await createManager(ports, [informer, labelling(ports, parts, informer, founders)]).run(
        signal,
      );
    },
  };
}

/** How many pods of each copy form its quorum now, by the name of the copy, as the Works have it. */
class Founders {
  readonly #counts = new Map<string, number>();
  #changed: (namespace: string, set: string) => void = () => undefined;

  see(work: Work | undefined): void {
    for (const manifest of work?.spec.workload?.manifests ?? []) {
      const { kind, metadata } = manifest as Partial<AnyObject>;
      const count = metadata?.annotations?.[wellKnown.FEDERATED_FOUNDERS];
      if (kind !== "StatefulSet" || metadata === undefined || count === undefined) continue;
      const { namespace = "", name } = metadata;
      if (!/^[0-9]{1,9}$/.test(count) || this.#counts.get(`${namespace}/${name}`) === Number(count))
        continue;
      this.#counts.set(`${namespace}/${name}`, Number(count));
      this.#changed(namespace, name);
    }
  }

  of({ metadata }: AnyObject): number | undefined {
    return this.#counts.get(copyOf(metadata));
  }

  /** The pods of a copy whose number changed. */
  watchingPods(informer: Informer<AnyObject>): ControllerWatch {
    return {
      whenSynced: () => Promise.resolve(true),
      subscribe: (add) => {
        this.#changed = (namespace, name) => {
          for (const pod of informer.list())
            if (copyOf(pod.metadata) === `${namespace}/${name}`) add(keyOf(pod));
        };
        return () => {
          this.#changed = () => undefined;
        };
      },
    };
  }
}

/** The StatefulSet of a pod, as `namespace/name`. */
function copyOf({ namespace = "", labels = {} }: AnyObject["metadata"]): string {
  const { [wellKnown.FEDERATED_SET]: set = "", [wellKnown.FEDERATED_CLUSTER]: cluster = "" } =
    labels;
  return `${namespace}/${copyName(set, cluster)}`;
}

function holdsFederatedSet(work: Work | undefined): boolean {
  return (work?.spec.workload?.manifests ?? []).some((manifest) => {
    const { kind, spec } = manifest as {
      readonly kind?: unknown;
      readonly spec?: { readonly template?: { readonly metadata?: { readonly labels?: object } } };
    };
    return (
      kind === "StatefulSet" &&
      Object.hasOwn(spec?.template?.metadata?.labels ?? {}, wellKnown.FEDERATED_SET)
    );
  });
}

function labelling(
  ports: KitPorts,
  { member, own }: FederatedPodsParts,
  informer: Informer<AnyObject>,
  founders: Founders,
): Service {
  return createController(ports, {
    name: "federated-pods",
    concurrency: 2,
    watches: [watching(informer, ownKey), founders.watchingPods(informer)],
    reconcile: async (key, signal) => {
      const pod = informer.get(key);
      if (pod === undefined) return done;
      const { region, zone, zones } = own?.()?.spec ?? {};
      const labels = podLabelsToSet(pod, { region, zone: zone ?? zones?.[0] }, founders.of(pod));
      if (labels === undefined) return done;
      const { uid, resourceVersion } = pod.metadata;
      const body = { metadata: { uid, resourceVersion, labels } };
      try {
        await member.patch(podResource, keyOf(pod), { type: "merge", body }, { signal });
      } catch (error) {
        // The pod changed or went: its next state brings the next reconcile.
        if (!isRefused(error, "Conflict") && !isRefused(error, "NotFound")) throw error;
      }
      return done;
    },
  });
}
