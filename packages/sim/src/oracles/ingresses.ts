/**
 * Oracles of MultiClusterIngresses, by what members truly hold: which clusters get no traffic (J2), that some always do (J4), and
 * where the backends are (J6). Which of them have a ready replica is read from what load balancers read.
 */
import { findCondition, type KubeObject, type MultiClusterIngress } from "@lifeboat/api";
import { parseTime } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { executionNamespace, workName } from "@lifeboat/core/propagation/rendering";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import { clusterNamed, isGoing, nameOfCluster, pairOf } from "./reading.ts";
import { BLOCK } from "./remedy.ts";
import { tableOf, type Truth, WORKS } from "./truth.ts";

export const INGRESSES = "networking.karmada.io/multiclusteringresses";

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "some-backend-keeps-its-traffic",
    promise:
      "J4: of the clusters with a confirmed backend of an ingress never all are blocked: then none is (D16)",
    on: "plane",
    tables: [INGRESSES],
    start: (truth) => (change) => {
      const { before, now } = pairOf<MultiClusterIngress>(change);
      const blocked = now?.status?.trafficBlockClusters ?? [];
      // A backend that has just ceased to be ready is judged with the next decision.
      const isDecision = before?.status?.trafficBlockClusters?.join() !== blocked.join();
      const backends = isDecision ? readyIn(now) : locatedIn(now);
      const withinMs = UNCONFIRMED_MS + truth.lagMs + truth.roundTripMs;
      const located = confirmedOf(truth, backends, withinMs);
      const isNobodyLeft = located.size > 0 && [...located].every((one) => blocked.includes(one));
      return isNobodyLeft ? [`${change.key} blocks all of ${[...located].join(", ")}`] : [];
    },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "blocks-follow-the-actions",
    promise:
      "J2: an ingress blocks the clusters with TrafficControl that hold a backend, and no others; unless these are all (D16)",
    judge: (truth) =>
      ingressesOf(truth).flatMap((ingress) => {
        const { wanted } = blocksOf(truth, ingress) ?? {};
        const actual = ingress.status?.trafficBlockClusters ?? [];
        return wanted === undefined || wanted.join() === actual.join()
          ? []
          : [`${nameOf(ingress)} blocks [${actual.join()}] and not [${wanted.join()}]`];
      }),
  },
  {
    name: "all-blocked-is-shown",
    promise:
      "J4: AllBackendsBlocked is True while Remedies would block every confirmed backend, and only then (D16)",
    judge: (truth) =>
      ingressesOf(truth).flatMap((ingress) => {
        const blocks = blocksOf(truth, ingress);
        if (blocks === undefined) return [];
        const { status } = findCondition(ingress.status?.conditions, "AllBackendsBlocked") ?? {};
        const wanted = blocks.isAll ? "True" : "False";
        return status === wanted ? [] : [`AllBackendsBlocked of ${nameOf(ingress)} is ${status}`];
      }),
  },
  {
    name: "backends-are-where-the-service-is",
    promise:
      "J6: an ingress lists each of its Services once, sorted, with exactly the clusters that hold a copy of it",
    judge: (truth) => ingressesOf(truth).flatMap((ingress) => judgeLocations(truth, ingress)),
  },
];

/** The ingresses that are there to stay. */
export function ingressesOf({ ledger }: Truth): readonly MultiClusterIngress[] {
  return ledger
    .objects("plane", INGRESSES)
    .map(({ object }) => object as KubeObject as MultiClusterIngress)
    .filter((ingress) => !isGoing(ingress));
}

export function nameOf({ metadata }: MultiClusterIngress): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** The clusters that have a backend, as the status has it: J6 judges that. */
function locatedIn(ingress: MultiClusterIngress | undefined): ReadonlySet<string> {
  return new Set(
    (ingress?.status?.serviceLocations ?? []).flatMap(({ clusters = [] }) => clusters),
  );
}

/** So long a backend counts as confirmed in a cluster that is not Ready. */
const UNCONFIRMED_MS = 60_000;

/** Those of them with an address and a ready replica, as is published; all where that is known of none. */
function readyIn(ingress: MultiClusterIngress | undefined): ReadonlySet<string> {
  const text = ingress?.metadata.annotations?.[wellKnown.BACKENDS];
  const { services = {} } = JSON.parse(text ?? "{}") as PublishedText;
  const ready = Object.values(services)
    .flatMap(({ clusters = {} }) => Object.entries(clusters))
    .filter(([, one]) =>
      one.endpoints === undefined
        ? one.addresses?.length !== 0 && one.cause !== "idle" && one.cause !== "gone"
        : one.endpoints.some(({ addresses = [] }) => addresses.length > 0),
    )
    .map(([name]) => name);
  const located = locatedIn(ingress);
  const both = ready.filter((name) => located.has(name));
  return both.length === 0 ? located : new Set(both);
}

interface PublishedText {
  readonly services?: Readonly<
    Record<string, { readonly clusters?: Readonly<Record<string, PublishedTextOfCluster>> }>
  >;
}

interface PublishedTextOfCluster {
  readonly addresses?: readonly string[];
  readonly cause?: string;
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[];
}

/**
 * Those of some clusters that are Ready, or were within so long; all when there are none. After a change of a clock it is unknown for how long
 * a cluster has been away, so each counts.
 */
function confirmedOf(
  truth: Truth,
  located: ReadonlySet<string>,
  withinMs: number,
): ReadonlySet<string> {
  const confirmed = [...located].filter((name) => awayFor(truth, name) < withinMs);
  const isSure = truth.circumstances.clockChanges.length === 0;
  return isSure && confirmed.length > 0 ? new Set(confirmed) : located;
}

/** For how long a cluster has not been Ready; 0: it is. */
function awayFor(truth: Truth, cluster: string): number {
  const { ledger } = truth;
  const ready = findCondition(clusterNamed(truth, cluster)?.status?.conditions, "Ready");
  if (ready === undefined || ready.status === "True") return 0;
  return ledger.timeAt(ledger.now) - (parseTime(ready.lastTransitionTime) ?? 0);
}

/** What an ingress shall block; undefined: it depends on a moment that is not known as closely. */
function blocksOf(truth: Truth, ingress: MultiClusterIngress) {
  const located = locatedIn(ingress);
  const { clockChanges } = truth.circumstances;
  const isUnsure = [...located]
    .map((name) => awayFor(truth, name))
    .some(
      (ms) => ms > 0 && (clockChanges.length > 0 || Math.abs(ms - UNCONFIRMED_MS) <= truth.lagMs),
    );
  if (isUnsure) return undefined;
  const acting = truth
    .clusters()
    .filter(({ status }) => status?.remedyActions?.includes(BLOCK) === true)
    .map(nameOfCluster)
    .filter((name) => located.has(name));
  const confirmed = confirmedOf(truth, readyIn(ingress), UNCONFIRMED_MS);
  const isAll = acting.length > 0 && [...confirmed].every((name) => acting.includes(name));
  return { isAll, wanted: isAll ? [] : acting.toSorted() };
}

function servicesOf({ spec }: MultiClusterIngress): readonly string[] {
  const backends = (spec.rules ?? []).flatMap(({ http }) => http?.paths ?? []);
  return [...new Set(backends.map(({ backend }) => backend.service?.name ?? ""))].sort();
}

function judgeLocations(truth: Truth, ingress: MultiClusterIngress): readonly string[] {
  const { namespace = "" } = ingress.metadata;
  const listed = ingress.status?.serviceLocations ?? [];
  const names = listed.map(({ name }) => name);
  if (names.join() !== servicesOf(ingress).join())
    return [`${nameOf(ingress)} lists the Services [${names.join()}]`];
  return listed.flatMap(({ name, clusters = [] }) => {
    const holders = holdersOf(truth, namespace, name);
    return holders.join() === clusters.join()
      ? []
      : [
          `${nameOf(ingress)} has Service ${name} in [${clusters.join()}]; it is in [${holders.join()}]`,
        ];
  });
}

/** The clusters that hold our copy of a Service. */
export function holdersOf(truth: Truth, namespace: string, name: string): readonly string[] {
  return truth
    .clusters()
    .map(nameOfCluster)
    .filter((cluster) => {
      const copy = truth.ledger.find(cluster, tableOf("Service"), `${namespace}/${name}`)?.object;
      const work = `${executionNamespace(cluster)}/${workName({ kind: "Service", namespace, name })}`;
      return (
        copy?.metadata.labels?.[wellKnown.MANAGED] === "true" &&
        truth.ledger.find("plane", WORKS, work) !== undefined
      );
    })
    .sort();
}
