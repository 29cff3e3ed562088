/**
 * Which bindings a change of a cluster concerns, beside those that run there.
 *
 * Bindings are kept in groups that mean the same clusters, usually those of one policy, so that a change is compared with
 * each group once and then costs what it concerns.
 *
 *   follower   goes to every cluster that fits: concerned when a cluster begins to fit
 *   federated  has a fixed share in each cluster: concerned also when a cluster becomes ready, and when one goes in which it
 *              has none, because its headless Service is there (D15)
 *   waiting    found no placement: concerned when a cluster begins to fit, or has more room if it waits for room
 */
import { resultOf } from "@lifeboat/core/binding";
import { isFederated } from "@lifeboat/core/federated";
import { type Candidate, followsClusters, readPlacement } from "@lifeboat/core/placement";
import type { Binding } from "../../context/bindings.ts";

/** What a binding without a placement waits for. */
export type Awaited = "fit" | "room";

interface Group {
  readonly matches: (candidate: Candidate) => boolean;
  readonly followers: Set<string>;
  readonly federated: Set<string>;
  readonly waiting: Map<string, Awaited>;
  /** How many bindings belong to it. */
  members: number;
}

interface Member {
  readonly group: string;
  readonly placement: unknown;
}

export class Interest {
  readonly #groups = new Map<string, Group>();
  readonly #members = new Map<string, Member>();

  /** Takes a binding in, or its change. What it waits for stays as it was. */
  put(key: string, binding: Binding): void {
    const { placement } = binding.spec;
    const known = this.#members.get(key);
    let group = known === undefined ? undefined : this.#groups.get(known.group);
    if (known === undefined || group === undefined || known.placement !== placement) {
      const awaited = group?.waiting.get(key);
      this.remove(key);
      const name = nameOf(placement);
      group = this.#groups.get(name) ?? newGroup(placement);
      this.#groups.set(name, group);
      group.members += 1;
      this.#members.set(key, { group: name, placement });
      if (awaited !== undefined) group.waiting.set(key, awaited);
    }
    if (canFollow(binding)) group.followers.add(key);
    else group.followers.delete(key);
    if (isFederated(binding)) group.federated.add(key);
    else group.federated.delete(key);
  }

  /** undefined: it waits for nothing. */
  wait(key: string, awaited: Awaited | undefined): void {
    const member = this.#members.get(key);
    const group = member === undefined ? undefined : this.#groups.get(member.group);
    if (awaited === undefined) group?.waiting.delete(key);
    else group?.waiting.set(key, awaited);
  }

  remove(key: string): void {
    const member = this.#members.get(key);
    if (member === undefined) return;
    this.#members.delete(key);
    const group = this.#groups.get(member.group);
    if (group === undefined) return;
    group.followers.delete(key);
    group.federated.delete(key);
    group.waiting.delete(key);
    group.members -= 1;
    if (group.members === 0) this.#groups.delete(member.group);
  }

  /** The bindings that are concerned when this cluster begins to fit. */
  *concernedByFit(candidate: Candidate): Iterable<string> {
    for (const { matches, followers, waiting } of this.#groups.values()) {
      if ((followers.size === 0 && waiting.size === 0) || !matches(candidate)) continue;
      yield* followers;
      yield* waiting.keys();
    }
  }

  /** The bindings that are concerned when this cluster becomes ready. */
  *concernedByLife(candidate: Candidate): Iterable<string> {
    for (const { matches, federated } of this.#groups.values())
      if (federated.size > 0 && matches(candidate)) yield* federated;
  }

  /** The bindings that are concerned when a cluster goes, whether they run there or not. */
  *concernedByLoss(): Iterable<string> {
    for (const { federated } of this.#groups.values()) yield* federated;
  }

  /** The bindings that are concerned when this cluster has more room. */
  *concernedByRoom(candidate: Candidate): Iterable<string> {
    for (const { matches, waiting } of this.#groups.values()) {
      if (waiting.size === 0 || !matches(candidate)) continue;
      for (const [key, awaited] of waiting) if (awaited === "room") yield key;
    }
  }
}

function nameOf(placement: Binding["spec"]["placement"]): string {
  return JSON.stringify([placement?.clusterAffinity, placement?.clusterAffinities]);
}

function newGroup(placement: Binding["spec"]["placement"]): Group {
  const { terms } = readPlacement(placement);
  return {
    matches: (candidate) => terms.some(({ matches }) => matches(candidate)),
    followers: new Set(),
    federated: new Set(),
    waiting: new Map(),
    members: 0,
  };
}

/** A binding that has as many clusters as it may have gains nothing by another one. */
function canFollow(binding: Binding): boolean {
  if (!followsClusters(binding)) return false;
  if (isFederated(binding)) return true;
  const rule = binding.spec.placement?.spreadConstraints?.find(
    ({ spreadByField }) => spreadByField === "cluster",
  );
  const max = rule?.maxGroups ?? 0;
  return max === 0 || resultOf(binding).length < max;
}
