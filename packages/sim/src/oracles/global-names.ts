/**
 * Oracles of what federated StatefulSets are found by: the Service of each pod (I6), what the DNS server answers (I8, D28), and
 * that it answers whatever it is asked (J5).
 */
import { type AnyObject, type Cluster, equalJson } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { NameRecord, ZoneNames } from "@lifeboat/core/names";
import { datagramProblems } from "./datagrams.ts";
import {
  type FederatedSet,
  federatedSets,
  isGlobal,
  Lives,
  podsOf,
  serviceNamed,
} from "./federated-reading.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import { clusterNamed, isGoing, pairOf, readyOf } from "./reading.ts";
import { BLOCK } from "./remedy.ts";
import { CLUSTERS, tableOf, type Truth } from "./truth.ts";

const LEASES = "coordination.k8s.io/leases";
const SERVICES = tableOf("Service");
/** What a DNS server may take from the decision to the answer when nothing is wrong. */
const NAMES_MS = 1000;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "pod-services-stay-with-their-pod",
    promise:
      "I6: the Service of a pod is in the cluster of the pod only, and selects that pod alone",
    on: "members",
    tables: [SERVICES],
    start: () => (change) => {
      const { now } = pairOf<AnyObject>(change);
      const { labels = {}, name = "" } = now?.metadata ?? {};
      const cluster = labels[wellKnown.FEDERATED_CLUSTER];
      if (now === undefined || cluster === undefined) return [];
      const { selector } = (now as { readonly spec?: { readonly selector?: object } }).spec ?? {};
      return [
        ...(cluster === change.server ? [] : [`${name} of ${cluster} is in ${change.server}`]),
        ...(equalJson(selector ?? {}, { [wellKnown.FEDERATED_POD]: name })
          ? []
          : [`${name} selects ${JSON.stringify(selector)}`]),
      ];
    },
  },
  {
    name: "the-dead-leave-the-names",
    promise:
      "D28: a cluster that is not Ready leaves the answers at once, while another member of the set stays",
    on: "plane",
    tables: [CLUSTERS, LEASES],
    start: (truth) => {
      const lives = new Lives(truth);
      return (change) => {
        lives.hear(change);
        return judgeDead(truth, lives, change.at);
      };
    },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "each-pod-has-its-service",
    promise:
      "I6: a set that asks for Services has exactly one for each of its pods, in the plane and in the pod's cluster; another set has none",
    judge: (truth) => federatedSets(truth).flatMap((set) => judgeServices(truth, set)),
  },
  {
    name: "names-are-the-members",
    promise:
      "I8: the SRV and address records of a set are those of its pods that have an address in a living, unblocked cluster (D16); the replica list is that of its pods",
    judge: (truth) => [
      ...federatedSets(truth).flatMap((set) => judgeList(truth, set)),
      ...judgeRecords(truth),
    ],
  },
  {
    name: "every-packet-is-answered-or-dropped",
    promise:
      "J5: the DNS server answers or drops every packet: none fails, an answer is whole and at most 1,232 bytes, and a flood gets at most four times what it sends",
    judge: ({ witness: { names } }) => (names === undefined ? [] : datagramProblems(names)),
  },
];

/** The pods that a governing name lists, as the targets of its SRV records. */
function listedPods({ owners }: ZoneNames, governing: string): readonly string[] {
  const records = owners.find(({ name }) => name === governing)?.records ?? [];
  const targets = records.flatMap((one) => (one.type === "SRV" ? [one.target] : []));
  return [...new Set(targets.map((target) => target.split(".", 1)[0] ?? ""))].toSorted();
}

function governingOf({ apex }: ZoneNames, { name, namespace }: FederatedSet): string {
  return `${name}.${namespace}.${apex}`;
}

function judgeDead(truth: Truth, lives: Lives, at: number): readonly string[] {
  const { names } = truth.witness;
  // A change that takes most names away waits for a person (D28).
  if (names === undefined || names.isHeld || truth.circumstances.disturbed.has("dns")) return [];
  const slackMs = truth.lagMs + truth.roundTripMs + NAMES_MS;
  const dead = lives.dead().filter((cluster) => {
    const since = lives.deadSince(cluster) ?? at;
    return at - since > slackMs && truth.witness.livedThrough(since, slackMs);
  });
  if (dead.length === 0) return [];
  return federatedSets(truth).flatMap((set) => {
    const pods = podsOf(set);
    const listed = listedPods(names.names, governingOf(names.names, set));
    const homes = listed.map((pod) => pods.get(pod) ?? "");
    if (!homes.some((cluster) => lives.isAlive(cluster))) return [];
    return homes
      .filter((cluster) => dead.includes(cluster))
      .map((cluster) => `${set.name} lists a pod of ${cluster}, which is dead`);
  });
}

function judgeServices(truth: Truth, set: FederatedSet): readonly string[] {
  const { name, namespace } = set;
  const pods = isGlobal(set.template) ? podsOf(set) : new Map<string, string>();
  const made = truth.ledger
    .objects("plane", SERVICES)
    .map(({ object }) => object.metadata)
    .filter((metadata) => metadata.namespace === namespace)
    .filter(({ labels }) => labels?.[wellKnown.FEDERATED_SET] === name)
    .map((metadata) => metadata.name)
    .toSorted();
  const wanted = [...pods.keys()].toSorted();
  if (made.join() !== wanted.join())
    return [`the Services of ${name} are [${made.join()}] and not [${wanted.join()}]`];
  return [...pods]
    .filter(([, cluster]) => clusterNamed(truth, cluster) !== undefined)
    .filter(([pod, cluster]) => serviceNamed(truth, cluster, namespace, pod) === undefined)
    .map(([pod, cluster]) => `${cluster} has no Service for ${pod}`);
}

function judgeList(truth: Truth, set: FederatedSet): readonly string[] {
  const { name, namespace } = set;
  const headless = serviceNamed(truth, "plane", namespace, name);
  if (headless === undefined || isGoing(headless)) return [];
  const list = headless.metadata.annotations?.[wellKnown.FEDERATED_REPLICAS] ?? "";
  const listed = list.split(", ").filter((pod) => pod !== "");
  const pods = [...podsOf(set).keys()];
  return listed.toSorted().join() === pods.toSorted().join()
    ? []
    : [`the Service ${name} lists [${listed.join()}] and not [${pods.join()}]`];
}

/** What the DNS server answers about every set, held against the addresses that members give. */
function judgeRecords(truth: Truth): readonly string[] {
  const { names } = truth.witness;
  if (names === undefined) return [];
  if (names.isHeld) return ["a change of names is held"];
  return federatedSets(truth).flatMap((set) => {
    const governing = governingOf(names.names, set);
    const records = names.names.owners.find(({ name }) => name === governing)?.records;
    if (!isGlobal(set.template))
      return records === undefined ? [] : [`${governing} answers without being asked for`];
    const expected = expectedMembers(truth, set);
    const pods = expected.map(({ pod }) => pod).toSorted();
    const listed = listedPods(names.names, governing);
    const addresses = expected.flatMap((member) => member.addresses).toSorted();
    const answered = (records ?? []).flatMap(addressIn).toSorted();
    if (listed.join() !== pods.join())
      return [`${governing} lists [${listed.join()}] and not [${pods.join()}]`];
    return answered.join() === addresses.join()
      ? []
      : [`${governing} has [${answered.join()}] and not [${addresses.join()}]`];
  });
}

function addressIn(record: NameRecord): readonly string[] {
  return record.type === "A" || record.type === "AAAA" ? [record.address] : [];
}

interface Expected {
  readonly pod: string;
  readonly addresses: readonly string[];
}

/** The pods that have an address, without those of clusters that are dead, blocked or gone, unless that leaves none (D16). */
function expectedMembers(truth: Truth, set: FederatedSet): readonly Expected[] {
  const addressed = [...podsOf(set)].flatMap(([pod, cluster]) => {
    // Of a cluster that is gone the plane knows what it heard last.
    const server = clusterNamed(truth, cluster) === undefined ? "plane" : cluster;
    const addresses = addressesOf(serviceNamed(truth, server, set.namespace, pod));
    return addresses.length === 0 ? [] : [{ pod, cluster, addresses }];
  });
  const open = addressed.filter(({ cluster }) => isOpen(clusterNamed(truth, cluster)));
  return open.length > 0 ? open : addressed;
}

function isOpen(cluster: Cluster | undefined): boolean {
  return readyOf(cluster) === "True" && cluster?.status?.remedyActions?.includes(BLOCK) !== true;
}

function addressesOf(service: AnyObject | undefined): readonly string[] {
  const { status } = (service ?? {}) as {
    readonly status?: {
      readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] };
    };
  };
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []);
}
