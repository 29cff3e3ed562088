/**
 * Oracles of federated StatefulSets (D15), by the disks: how replicas are shared out (I1, I5), that identities are unique and
 * stay (I2, I3, I4), names (I7) and quorums.
 */
import type { AnyObject, ResourceBinding } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import {
  type FederatedSet,
  federatedSets,
  isQuorum,
  Lives,
  podsOf,
  type Remembered,
  rememberedOf,
  RESOURCE_BINDINGS,
  STATEFUL_SETS,
  sum,
} from "./federated-reading.ts";
import type { AlwaysOracle, ConvergedOracle, Judge } from "./oracle.ts";
import {
  clusterNamed,
  editOf,
  evictionsOf,
  isGoing,
  nameOf,
  nameOfCluster,
  pairOf,
  resultWithout,
} from "./reading.ts";
import { CLUSTERS, type Truth } from "./truth.ts";

const PODS = "/pods";
/** What the StatefulSet of a cluster may be called at most, and a label of DNS. */
const MOST_NAME = 52;
const LABEL = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

/** A change of what is remembered. */
interface Change {
  readonly binding: ResourceBinding;
  readonly former: ResourceBinding;
  readonly was: Remembered;
  readonly now: Remembered;
  readonly lives: Lives;
  readonly truth: Truth;
}

/** Judges changes of what bindings of federated StatefulSets remember. */
function onRecord(judge: (change: Change) => readonly string[]): (truth: Truth) => Judge {
  return (truth) => {
    const lives = new Lives(truth);
    return (change) => {
      lives.hear(change);
      if (change.table !== RESOURCE_BINDINGS) return [];
      const edit = editOf(change);
      const [was, now] = [rememberedOf(edit?.before), rememberedOf(edit?.now)];
      if (edit === undefined || was === undefined || now === undefined) return [];
      const found = judge({ binding: edit.now, former: edit.before, was, now, lives, truth });
      return found.map((text) => `${nameOf(edit.now)}: ${text}`);
    };
  };
}

const ON_RECORD = { on: "plane", tables: [RESOURCE_BINDINGS, CLUSTERS] } as const;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "replicas-are-shared-evenly",
    promise:
      "I1: the first shares of a set add up to its replicas and differ by one at most; an added replica goes where least are, a removed one leaves where most are (D15)",
    ...ON_RECORD,
    start: onRecord(judgeEvenness),
  },
  {
    name: "shares-follow-scaling",
    promise:
      "I5: a share grows only by a scale-up and shrinks only by a scale-down or a person's forget; one that was forgotten stays so (D15)",
    ...ON_RECORD,
    start: onRecord(judgeScaling),
  },
  {
    name: "the-dead-keep-their-shares",
    promise:
      "I4: a cluster that does not answer keeps its share, and no replica of a federated StatefulSet is evicted (D15)",
    ...ON_RECORD,
    start: onRecord(({ binding, former, was, now, lives, truth }) => {
      const isMeddledWith = truth.circumstances.placedByHand.has(binding.spec.resource.name);
      const left = resultWithout(former, binding)
        .filter((name) => !isMeddledWith && shareIn(now, name) > 0)
        .filter((name) => clusterNamed(truth, name) !== undefined);
      const lost = clustersIn(was, now)
        .filter((name) => shareIn(now, name) < shareIn(was, name))
        .filter((name) => lives.isDead(name) && !now.forgotten.includes(name));
      const evicted = evictionsOf(binding).map(({ fromCluster }) => fromCluster);
      return [
        ...lost.map((name) => `the dead cluster ${name} loses replicas`),
        ...left.map((name) => `it leaves ${name}, which has a share`),
        ...evicted.map((name) => `it is evicted from ${name}`),
      ];
    }),
  },
  {
    name: "numbers-are-for-ever",
    promise: "I2: a cluster keeps the number of its unique integers, and no other gets it (D15)",
    ...ON_RECORD,
    start: onRecord(({ was, now }) => {
      const changed = Object.entries(was.numbers).filter(([name, n]) => now.numbers[name] !== n);
      const all = Object.values(now.numbers);
      const lacking = Object.keys(now.shares).filter((name) => now.numbers[name] === undefined);
      return [
        ...changed.map(([name]) => `the number of ${name} changed`),
        ...lacking.map((name) => `${name} has no number`),
        ...(new Set(all).size < all.length ? [`numbers are given twice: ${all.join()}`] : []),
      ];
    }),
  },
  {
    name: "copies-bear-their-cluster",
    promise: "I2: the StatefulSet of a set in a cluster is `<set>-<cluster>`, and only there (D15)",
    on: "members",
    tables: [STATEFUL_SETS],
    start: () => (change) => {
      const { now } = pairOf<AnyObject>(change);
      const { [wellKnown.FEDERATED_SET]: set, [wellKnown.FEDERATED_CLUSTER]: cluster } =
        podLabelsOf(now);
      if (now === undefined || set === undefined) return [];
      return now.metadata.name === `${set}-${change.server}` && cluster === change.server
        ? []
        : [`the StatefulSet of ${set} in ${change.server} is ${now.metadata.name} of ${cluster}`];
    },
  },
  {
    name: "an-identity-lives-in-one-cluster",
    promise: "I3: a pod of a federated StatefulSet is in one cluster only, for ever (D15)",
    on: "members",
    tables: [PODS],
    start: () => {
      const homes = new Map<string, string>();
      return ({ key, server, ...change }) => {
        const { now } = pairOf<AnyObject>({ key, server, ...change });
        if (now?.metadata.labels?.[wellKnown.FEDERATED_SET] === undefined) return [];
        const home = homes.get(key) ?? server;
        homes.set(key, home);
        return home === server ? [] : [`${key} is in ${server} and was in ${home}`];
      };
    },
  },
  {
    name: "federated-names-fit",
    promise:
      "I7: no federated StatefulSet is there whose copies would have too long a name, or that of another set's (D15)",
    on: "plane",
    tables: [STATEFUL_SETS, CLUSTERS],
    start: judgeNames,
  },
  {
    name: "a-quorum-keeps-its-majority",
    promise:
      "D15: no scale-down and no forget takes a majority of the living replicas of a quorum at once",
    ...ON_RECORD,
    start: onRecord(({ binding, former, was, now, lives }) => {
      if (!isQuorum(binding) || !isQuorum(former)) return [];
      const living = Object.keys(was.shares).filter((name) => !lives.isDead(name));
      const [before, after] = [was, now].map((record) =>
        living.reduce((all, name) => all + shareIn(record, name), 0),
      ) as [number, number];
      const taken = before - after;
      return taken > 0 && taken > Math.floor(before / 2)
        ? [`${taken} of ${before} living replicas go at once`]
        : [];
    }),
  },
  {
    name: "a-quorum-starts-one-by-one",
    promise:
      "D15: after the first cluster's, the replicas of a quorum start one by one, each when those before are ready",
    ...ON_RECORD,
    start: onRecord(({ former, was, now, lives }) => {
      if (was.started === undefined || now.started === undefined) return [];
      const begun = was.started;
      if (sum(begun) === 0) return [];
      const more = Object.entries(now.started).filter(([name, n]) => n > (begun[name] ?? 0));
      if (more.length === 0) return [];
      const count = more.reduce((all, [name, n]) => all + n - (begun[name] ?? 0), 0);
      const waited = Object.entries(begun).filter(
        ([name, n]) =>
          lives.isAlive(name) && readyIn(former, name) < Math.min(n, shareIn(now, name)),
      );
      return [
        ...(count > 1 ? [`${count} replicas start at once`] : []),
        ...waited.map(([name, n]) => `another starts while ${name} has not ${n} ready ones`),
      ];
    }),
  },
  {
    name: "a-quorum-lets-go-one-by-one",
    promise:
      "D15: the replicas of a quorum leave one by one, each when the application has let it go",
    ...ON_RECORD,
    start: onRecord(({ binding, former, was, now }) => {
      if (!isQuorum(binding) || !isQuorum(former) || was.started === undefined) return [];
      const { started = now.shares } = now;
      const { name } = former.spec.resource;
      const word = former.metadata.annotations?.[wellKnown.FEDERATED_LET_GO];
      return Object.entries(was.started)
        .filter(([cluster]) => !now.forgotten.includes(cluster))
        .filter(([cluster, n]) => {
          const { leaving } = was;
          const fewer = n - (started[cluster] ?? 0);
          const pod = `${name}-${cluster}-${n - 1}`;
          const isLetGo = leaving?.cluster === cluster && word === `${pod}/${leaving.number}`;
          return fewer > 1 || (fewer === 1 && !isLetGo);
        })
        .map(([cluster, n]) => `${cluster} loses replica ${n - 1}, which was not let go`);
    }),
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "members-run-their-shares",
    promise:
      "I4: each cluster that is there runs the pods of its share, the same as before, and no others (D15)",
    judge: (truth, members) =>
      federatedSets(truth).flatMap((set) =>
        members
          .filter((name) => clusterNamed(truth, name) !== undefined)
          .flatMap((name) => judgeMember(truth, set, name)),
      ),
  },
];

function shareIn({ shares }: Remembered, cluster: string): number {
  return shares[cluster] ?? 0;
}

function clustersIn(...records: readonly Remembered[]): readonly string[] {
  return [...new Set(records.flatMap(({ shares }) => Object.keys(shares)))];
}

/** How many ready pods of a cluster the binding shows. */
function readyIn({ status }: ResourceBinding, cluster: string): number {
  const shown = (status?.aggregatedStatus ?? []).find(({ clusterName }) => clusterName === cluster);
  const { readyReplicas = 0 } = (shown?.status ?? {}) as { readonly readyReplicas?: number };
  return readyReplicas;
}

function judgeEvenness({ binding, was, now, lives }: Change): readonly string[] {
  const asked = binding.spec.replicas ?? 0;
  const isFirst = Object.keys(was.numbers).length === 0;
  const all = clustersIn(was, now);
  const grown = all.filter((name) => shareIn(now, name) > shareIn(was, name));
  const shrunk = all.filter(
    (name) => shareIn(now, name) < shareIn(was, name) && !now.forgotten.includes(name),
  );
  const wrong: string[] = [];
  if (isFirst && grown.length > 0 && sum(now.shares) !== asked)
    wrong.push(`the first shares are ${sum(now.shares)} of ${asked}`);
  // Of ordered groups one grows, and which is not judged here.
  const hasGroups = binding.spec.placement?.clusterAffinities !== undefined;
  const rivals = hasGroups
    ? []
    : now.clusters.filter((name) => isMeant(binding, name) && lives.takesMore(name));
  for (const name of grown) {
    const less = rivals.find((other) => shareIn(now, other) + 1 < shareIn(now, name));
    if (less !== undefined)
      wrong.push(`${name} grows to ${shareIn(now, name)}, and ${less} has ${shareIn(now, less)}`);
  }
  for (const name of shrunk) {
    const more = Object.keys(now.shares).find(
      (other) => lives.isAlive(other) && shareIn(now, other) > shareIn(now, name) + 1,
    );
    if (more !== undefined)
      wrong.push(`${name} shrinks to ${shareIn(now, name)}, and ${more} has ${shareIn(now, more)}`);
  }
  return wrong;
}

function isMeant({ spec }: ResourceBinding, cluster: string): boolean {
  return spec.placement?.clusterAffinity?.clusterNames?.includes(cluster) ?? true;
}

function judgeScaling({ binding, was, now }: Change): readonly string[] {
  const asked = binding.spec.replicas ?? 0;
  return clustersIn(was, now).flatMap((name) => {
    const [old, share] = [shareIn(was, name), shareIn(now, name)];
    if (share > 0 && now.forgotten.includes(name)) return [`${name} was forgotten and has a share`];
    if (share > old && asked <= was.replicas)
      return [`the share of ${name} grows without a scale-up`];
    if (share < old && !now.forgotten.includes(name) && asked >= sum(was.shares))
      return [`the share of ${name} shrinks without a scale-down`];
    return [];
  });
}

function podLabelsOf(set: AnyObject | undefined): Readonly<Record<string, string>> {
  const { spec } = (set ?? {}) as {
    readonly spec?: {
      readonly template?: { readonly metadata?: { readonly labels?: Record<string, string> } };
    };
  };
  return spec?.template?.metadata?.labels ?? {};
}

function judgeMember({ ledger }: Truth, set: FederatedSet, member: string): readonly string[] {
  const { name, namespace } = set;
  const wanted = [...podsOf(set)].filter(([, cluster]) => cluster === member).map(([pod]) => pod);
  const actual = ledger
    .objects(member, PODS)
    .filter(({ object }) => object.metadata.namespace === namespace && !isGoing(object))
    .filter(({ object }) => object.metadata.labels?.[wellKnown.FEDERATED_SET] === name)
    .map(({ object }) => object.metadata.name);
  return actual.toSorted().join() === wanted.toSorted().join()
    ? []
    : [
        `${member} runs [${actual.toSorted().join()}] of ${name} and not [${wanted.toSorted().join()}]`,
      ];
}

/** A set and a cluster that are made at the same moment are both let in; whoever came later by more than that is judged. */
function judgeNames(truth: Truth): Judge {
  const since = new Map<string, number>();
  const isSettled = (key: string): boolean =>
    truth.ledger.now - (since.get(key) ?? -Infinity) > truth.lagMs + truth.roundTripMs;
  return (change) => {
    const { before, now } = pairOf<AnyObject>(change);
    const key = `${change.table} ${change.key}`;
    if (now === undefined) since.delete(key);
    if (
      now === undefined ||
      (change.table === CLUSTERS ? before !== undefined : isSet(before) || !isSet(now))
    )
      return [];
    since.set(key, change.at);
    const isNew = (table: string, name: string): boolean =>
      table === change.table && name === change.key;
    const clusters = truth
      .clusters()
      .map(nameOfCluster)
      .filter((name) => isNew(CLUSTERS, `/${name}`) || isSettled(`${CLUSTERS} /${name}`));
    const sets = truth.ledger
      .objects("plane", STATEFUL_SETS)
      .map(({ object }) => object)
      .filter((set) => isSet(set))
      .filter(({ metadata: { namespace = "", name } }) =>
        [
          isNew(STATEFUL_SETS, `${namespace}/${name}`),
          isSettled(`${STATEFUL_SETS} ${namespace}/${name}`),
        ].includes(true),
      );
    return wrongNames(sets, clusters);
  };
}

function isSet(object: AnyObject | undefined): boolean {
  return object?.metadata.annotations?.[wellKnown.FEDERATED] === "true";
}

function wrongNames(sets: readonly AnyObject[], clusters: readonly string[]): readonly string[] {
  const holders = new Map<string, string>();
  const wrong: string[] = [];
  for (const { metadata } of sets)
    for (const cluster of clusters) {
      const name = `${metadata.name}-${cluster}`;
      const key = `${metadata.namespace}/${name}`;
      if (name.length > MOST_NAME || !LABEL.test(name)) wrong.push(`${name} is no name`);
      if (holders.has(key)) wrong.push(`${name} is of ${metadata.name} and of ${holders.get(key)}`);
      holders.set(key, metadata.name);
    }
  return wrong;
}
