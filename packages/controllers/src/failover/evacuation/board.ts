/**
 * What is known of evacuations that are going on, in memory: every recorded binding with its terms and its state. Which of
 * them may leave, and when, is the line's part (line.ts). It is built from what informers report and can be built again at any time.
 *
 * 1. A slice counts once its taint is marked as recorded, and only for the Evacuation that owns it.
 * 2. What happens to one binding costs what that binding has entries; only a change of an evacuation's taints, or of what
 *    people ordered for it, goes through all of its entries.
 * 3. An entry that is being released, or was, is not put in line again by an older state of its binding.
 * 4. Whether an entry has a target depends on what else its binding has to leave. So when one of a binding's entries stays,
 *    those that are held in other clusters are tried again: the records may change long after the clusters did.
 */
import {
  equalJson,
  type Evacuation,
  type EvacuationEntry,
  type EvacuationSlice,
  formatKey,
  parseKey,
} from "@lifeboat/api";
import { type Instant, instantOf, type Moment, parseTime } from "@lifeboat/base";
import { clusterNamesOf, isOn, purgeModeOf } from "@lifeboat/core/binding";
import {
  type ApprovalMode,
  entryState,
  isOpen,
  strandedBy,
  taintId,
  takenOutOf,
} from "@lifeboat/core/failover/evacuation";
import { compareVersions } from "@lifeboat/kit";
import { type Binding, bindingOf, bindingsBy } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { bindingClusters } from "../../context/informers.ts";
import type { Item, Track } from "./items.ts";
import { Line } from "./line.ts";
import { reportStays } from "./reports.ts";
import type { Wakes } from "./state.ts";

/** More than a slice can hold: entries are in order by their slice, then by their place in it. */
const MAX_ENTRIES = 1000;

type BoardContext = Pick<PlaneContext, "events" | "informers" | "log" | "time">;

export class Board {
  readonly line: Line;
  readonly #context: BoardContext;
  readonly #wakes: Wakes;
  readonly #evacuations = new Map<string, Map<string, Evacuation>>();
  /** By evacuation. */
  readonly #slices = new Map<string, Map<string, EvacuationSlice>>();
  readonly #tracks = new Map<string, Track>();

  constructor(
    context: BoardContext,
    options: { readonly failover: boolean; readonly approval: ApprovalMode },
    wakes: Wakes,
  ) {
    this.#context = context;
    this.line = new Line(context, options, wakes);
    this.#wakes = wakes;
  }

  /** All evacuations of a cluster, also those that have finished. */
  evacuationsOf(cluster: string): readonly Evacuation[] {
    return [...(this.#evacuations.get(cluster)?.values() ?? [])];
  }

  /** Those of its evacuations that are going on. */
  tracksOf(cluster: string): readonly Track[] {
    return this.evacuationsOf(cluster).flatMap(
      ({ metadata }) => this.#tracks.get(metadata.name) ?? [],
    );
  }

  get tracks(): Iterable<Track> {
    return this.#tracks.values();
  }

  /** Whether no evacuation is going on. */
  get isEmpty(): boolean {
    return this.#tracks.size === 0;
  }

  /** The slices of one taint. */
  slicesOf({ metadata }: Evacuation, taint: string): readonly EvacuationSlice[] {
    return [...(this.#slices.get(metadata.name)?.values() ?? [])].filter(
      (slice) => isOwned(slice, metadata.uid) && taintId(slice.spec.taint) === taint,
    );
  }

  /** The bindings on a cluster of which a taint has recorded nothing. */
  unrecorded(track: Track, taint: string): readonly Binding[] {
    return [...track.arrivals].flatMap((id) => {
      const item = track.items.get(id);
      const binding = this.#bindingOf(id);
      if (binding === undefined || !isOn(binding, track.cluster)) return [];
      const isKnown = item?.entry.binding.uid === binding.metadata.uid && item.terms.has(taint);
      return isKnown ? [] : [binding];
    });
  }

  putEvacuation(old: Evacuation | undefined, now: Evacuation | undefined): void {
    const { metadata, spec } = (now ?? old) as Evacuation;
    const ofCluster = this.#evacuations.get(spec.cluster) ?? new Map<string, Evacuation>();
    if (now === undefined) ofCluster.delete(metadata.name);
    else ofCluster.set(metadata.name, now);
    if (ofCluster.size === 0) this.#evacuations.delete(spec.cluster);
    else this.#evacuations.set(spec.cluster, ofCluster);
    const track = this.#tracks.get(metadata.name);
    if (now === undefined || !isGoingOn(now)) {
      if (track !== undefined) this.#drop(track);
    } else if (track === undefined) this.#begin(now);
    else {
      const before = track.evacuation;
      Object.assign(track, readEvacuation(now));
      if (isOtherwise(before, now)) this.#rebuild(track);
    }
    this.#wakes.record(spec.cluster);
  }

  putSlice(old: EvacuationSlice | undefined, now: EvacuationSlice | undefined): void {
    const { metadata, spec } = (now ?? old) as EvacuationSlice;
    const slices = this.#slices.get(spec.evacuation) ?? new Map<string, EvacuationSlice>();
    if (now === undefined) slices.delete(metadata.name);
    else slices.set(metadata.name, now);
    if (slices.size === 0) this.#slices.delete(spec.evacuation);
    else this.#slices.set(spec.evacuation, slices);
    const track = this.#tracks.get(spec.evacuation);
    if (track === undefined) return;
    if (now === undefined) {
      this.#removeSlice(track, spec);
      this.#rebuild(track);
    } else for (const item of this.#addSlice(track, now)) this.#update(item);
    this.#wakes.record(track.cluster);
  }

  putBinding(old: Binding | undefined, now: Binding | undefined): void {
    const { namespace = "", name } = ((now ?? old) as Binding).metadata;
    const id = formatKey({ namespace, name });
    const clusters = new Set([
      ...(old === undefined ? [] : concernedBy(old)),
      ...(now === undefined ? [] : concernedBy(now)),
    ]);
    for (const cluster of clusters)
      for (const track of this.tracksOf(cluster)) {
        const item = this.#itemOf(track, id);
        if (item !== undefined) this.#update(item);
        if (now !== undefined && isArrival(track, item, now)) track.arrivals.add(id);
        this.#wakes.record(cluster);
      }
  }

  /** Takes in an item's binding as the server has it. */
  observe(item: Item, binding: Binding | undefined): void {
    item.version = binding?.metadata.resourceVersion ?? item.version;
    this.#assess(item, binding);
  }

  /** Puts all items in line again: the clock was set, so all are due at another time. */
  settleAll(): void {
    for (const { items } of this.tracks)
      for (const item of items.values()) if (item.held === undefined) this.line.settle(item);
  }

  /** What people paused has changed: every item is in line or out of it by that. */
  pausesChanged(): void {
    for (const { cluster, items } of this.tracks) {
      for (const item of items.values()) if (item.held === undefined) this.line.settle(item);
      this.#wakes.record(cluster);
    }
  }

  /** Puts those out of line whose approval has ended; answers when the next one ends. */
  expireApprovals(moment: Moment): Instant | undefined {
    let next: Instant | undefined;
    for (const track of this.tracks) {
      const before = track.approvalEndsAt;
      const endsAt = this.line.orders.nextExpiry(track, moment);
      track.approvalEndsAt = endsAt;
      if (before !== undefined && before <= moment.now) {
        for (const item of track.items.values()) this.line.settle(item);
        this.#wakes.record(track.cluster);
      }
      if (endsAt !== undefined && (next === undefined || endsAt < next)) next = endsAt;
    }
    return next;
  }

  /** The clusters that a binding leaves or has to leave. */
  leaving(id: string, binding: Binding): ReadonlySet<string> {
    return new Set(
      clusterNamesOf(binding).filter((name) =>
        this.tracksOf(name).some(({ items }) => items.get(id)?.state === "Queued"),
      ),
    );
  }

  #begin(evacuation: Evacuation): void {
    const track: Track = {
      cluster: evacuation.spec.cluster,
      items: new Map(),
      recorded: new Map(),
      arrivals: new Set(),
      approvalEndsAt: undefined,
      ...readEvacuation(evacuation),
    };
    this.#tracks.set(evacuation.metadata.name, track);
    this.#rebuild(track);
  }

  #drop(track: Track): void {
    this.#tracks.delete(track.evacuation.metadata.name);
    for (const item of track.items.values()) {
      this.line.remove(item);
      if (item.state === "Queued") this.#retryElsewhere(item);
    }
  }

  /** Reads the slices again: taints were recorded, came off, or a person took an entry out. */
  #rebuild(track: Track): void {
    const slices = [...(this.#slices.get(track.evacuation.metadata.name)?.values() ?? [])];
    for (const slice of slices.toSorted((a, b) => a.spec.ordinal - b.spec.ordinal))
      this.#addSlice(track, slice);
    for (const item of track.items.values()) this.#update(item);
    for (const binding of bindingsBy(this.#context.informers, "cluster", track.cluster)) {
      const { namespace = "", name } = binding.metadata;
      const id = formatKey({ namespace, name });
      if (isArrival(track, track.items.get(id), binding)) track.arrivals.add(id);
    }
  }

  #addSlice(track: Track, slice: EvacuationSlice): readonly Item[] {
    const { metadata, spec } = slice;
    if (!isOwned(slice, track.evacuation.metadata.uid)) return [];
    const taint = taintId(spec.taint);
    const isRecorded = (track.evacuation.status?.taints ?? []).some(
      (one) => one.recorded && taintId(one.taint) === taint,
    );
    if (!isRecorded) return [];
    const recordedAt = parseTime(metadata.creationTimestamp ?? "") ?? instantOf(0);
    return spec.entries.map((entry, i) => {
      const recorded = recordedFor(track, entry, spec.ordinal * MAX_ENTRIES + i);
      if (!recorded.terms.has(taint))
        recorded.terms.set(taint, {
          taint: spec.taint,
          id: taint,
          toleratedUntil:
            entry.toleratedUntil === undefined ? undefined : parseTime(entry.toleratedUntil),
          addedAt: parseTime(spec.taint.timeAdded ?? ""),
          purgeMode: purgeModeOf(entry.purgeMode, "Gracefully"),
          exempt: entry.exempt,
          approval: entry.approval,
          result: entry.result,
          recordedAt,
        });
      const item = this.#itemOf(track, recorded.id) ?? recorded;
      const binding = this.#bindingOf(item.id);
      if (binding === undefined || !isArrival(track, item, binding)) track.arrivals.delete(item.id);
      return item;
    });
  }

  /**
   * The item that a name means: slices of different taints are read in no order of time, so a former binding of that name
   * may be read last.
   */
  #itemOf(track: Track, id: string): Item | undefined {
    const present = track.recorded.get(this.#bindingOf(id)?.metadata.uid ?? "");
    if (present !== undefined) track.items.set(id, present);
    return track.items.get(id);
  }

  /** Forgets the content of a slice that was deleted by hand. */
  #removeSlice(track: Track, { taint, entries }: EvacuationSlice["spec"]): void {
    for (const { binding } of entries) {
      const item = track.recorded.get(binding.uid);
      if (item === undefined) continue;
      item.terms.delete(taintId(taint));
      if (item.terms.size > 0) continue;
      track.recorded.delete(binding.uid);
      if (track.items.get(item.id) !== item) continue;
      track.items.delete(item.id);
      this.line.remove(item);
    }
  }

  #update(item: Item): void {
    const binding = this.#bindingOf(item.id);
    const version = binding?.metadata.resourceVersion;
    if (version !== undefined && compareVersions(version, item.version) < 0) return;
    this.#assess(item, binding);
  }

  #assess(item: Item, binding: Binding | undefined): void {
    const { track } = item;
    const { evacuation, cluster, inForce } = track;
    const { uid } = item.entry.binding;
    const { state, putBack, isStranded } = entryState({
      evacuation: evacuation.metadata.name,
      cluster,
      uid,
      terms: [...item.terms.values()].map(({ id, exempt, result }) => ({
        taint: id,
        isExempt: exempt !== undefined,
        isInForce: inForce.has(id),
        result,
      })),
      binding,
      // What a person did holds until it is written, whatever the scheduler makes of it.
      takenOut: track.takenOut.has(uid) || item.putBack,
    });
    // A binding that left has another result: all its entries are updated.
    const stays = item.state === "Queued" && (state === "Abandoned" || state === "Exempt");
    const isNews = item.isKnown && stays && state === "Abandoned";
    item.isKnown = true;
    item.state = state;
    item.putBack ||= putBack;
    item.isStranded = isStranded;
    if (state !== "Queued") item.held = undefined;
    this.line.settle(item);
    if (stays) this.#retryElsewhere(item);
    if (isNews) reportStays(this.#context, item, this.line.termsInForce(item).length > 0);
  }

  /** Tries those entries of a binding again that are held: it has to leave one cluster less. */
  #retryElsewhere({ id }: Item): void {
    const binding = this.#bindingOf(id);
    if (binding === undefined) return;
    for (const name of clusterNamesOf(binding))
      for (const { items } of this.tracksOf(name)) {
        const other = items.get(id);
        if (other?.held !== undefined) this.line.settle(other);
      }
  }

  #bindingOf(id: string): Binding | undefined {
    return bindingOf(this.#context.informers, parseKey(id));
  }
}

/** The clusters whose evacuations a binding concerns; of one that is in no cluster, that which it left last. */
function concernedBy(binding: Binding): readonly string[] {
  const last = strandedBy(binding);
  return [...bindingClusters(binding), ...(last === undefined ? [] : [last.cluster])];
}

function isGoingOn(evacuation: Evacuation): boolean {
  const { metadata, status } = evacuation;
  if (metadata.deletionTimestamp !== undefined) return false;
  return isOpen(evacuation) || status?.finishedAt === undefined;
}

function isOwned({ metadata }: EvacuationSlice, uid: string): boolean {
  return (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
}

/** Whether entries must be judged again: not for counts alone. */
function isOtherwise(before: Evacuation, now: Evacuation): boolean {
  return (
    before.metadata.uid !== now.metadata.uid ||
    before.spec.paused !== now.spec.paused ||
    !equalJson(before.spec.approvals ?? [], now.spec.approvals ?? []) ||
    !equalJson(before.status?.taints ?? [], now.status?.taints ?? []) ||
    !equalJson(takenOutOf(before), takenOutOf(now))
  );
}

function readEvacuation(
  evacuation: Evacuation,
): Pick<Track, "evacuation" | "inForce" | "takenOut"> {
  const { status } = evacuation;
  const inForce = (status?.taints ?? [])
    .filter(({ recorded, removedAt }) => recorded && removedAt === undefined)
    .map(({ taint }) => taintId(taint));
  const takenOut = takenOutOf(evacuation).map(({ uid }) => uid);
  return { evacuation, inForce: new Set(inForce), takenOut: new Set(takenOut) };
}

function isArrival(track: Track, item: Item | undefined, binding: Binding): boolean {
  if (!isOn(binding, track.cluster)) return false;
  if (item === undefined || item.entry.binding.uid !== binding.metadata.uid) return true;
  for (const id of track.inForce) if (!item.terms.has(id)) return true;
  return false;
}

function recordedFor(track: Track, entry: EvacuationEntry, order: number): Item {
  const { namespace = "", name, uid } = entry.binding;
  const key = { namespace, name };
  const id = formatKey(key);
  const known = track.recorded.get(uid);
  if (known !== undefined) return known;
  const item: Item = {
    track,
    id,
    key,
    entry,
    lane: entry.lane,
    order,
    terms: new Map(),
    state: "Queued",
    isKnown: false,
    putBack: false,
    isStranded: false,
    held: undefined,
    isBusy: false,
    version: "0",
  };
  track.recorded.set(uid, item);
  track.items.set(id, item);
  return item;
}
