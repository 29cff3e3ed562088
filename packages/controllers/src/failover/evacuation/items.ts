/** What is known in memory of an evacuation that is going on, and of each binding that it recorded. */
import type { Evacuation, EvacuationEntry, ObjectKey } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import type { PurgeMode } from "@lifeboat/core/binding";
import type { EntryState, Lane, TaintIdentity } from "@lifeboat/core/failover/evacuation";
import type { HeldReason } from "@lifeboat/core/failover/leaving";

/** On which terms a taint moves a binding, as it was recorded. */
export interface Term {
  readonly taint: TaintIdentity;
  readonly id: string;
  readonly toleratedUntil: Instant | undefined;
  /** The toleration counts from this: when the cluster got the taint. */
  readonly addedAt: Instant | undefined;
  readonly purgeMode: PurgeMode;
  readonly exempt: string | undefined;
  readonly approval: EvacuationEntry["approval"];
  /** The result of the binding, see `signResult`. */
  readonly result: string | undefined;
  readonly recordedAt: Instant;
}

export interface Held {
  readonly reason: HeldReason;
  readonly message: string;
  readonly since: Instant;
}

/** One binding of one evacuation. */
export interface Item {
  readonly track: Track;
  readonly id: string;
  readonly key: ObjectKey;
  readonly entry: EvacuationEntry;
  readonly lane: Lane;
  readonly order: number;
  readonly terms: Map<string, Term>;
  state: EntryState;
  /** Its binding was read, so that a change of its state is news. */
  isKnown: boolean;
  putBack: boolean;
  /** It has left, and is in no cluster. */
  isStranded: boolean;
  held: Held | undefined;
  /** It is being released; the queue does not get it meanwhile. */
  isBusy: boolean;
  /** Older states of the binding do not count: the version of the eviction. */
  version: string;
}

/** One evacuation that is going on. */
export interface Track {
  readonly cluster: string;
  /** By the name of the binding: of several that had it one after the other, the one that is there. */
  readonly items: Map<string, Item>;
  /** All recorded entries, by the uid of the binding. */
  readonly recorded: Map<string, Item>;
  /** Bindings that may have reached the cluster after it was recorded. */
  readonly arrivals: Set<string>;
  evacuation: Evacuation;
  /** The taints (see `taintId`) that are recorded and on the cluster. */
  inForce: ReadonlySet<string>;
  /** The uids of bindings that people took out. */
  takenOut: ReadonlySet<string>;
  /** When an approval ends next, by what was last read. */
  approvalEndsAt: Instant | undefined;
}
