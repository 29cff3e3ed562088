/**
 * What execution remembers of each Work between two reconciliations.
 *
 * 1. A memory is lost at a restart and only saves calls and waiting: the member and the Work's status hold all that matters.
 * 2. A memory belongs to one uid: a Work that was deleted and created again under its name starts without one.
 * 3. A Work that was in the cache when this process began is `inherited`, for as long as a request of an earlier process may
 *    still reach the member (late-creates.ts).
 */
import { equalJson, type Work } from "@lifeboat/api";
import type { Clock, Instant } from "@lifeboat/base";
import type { Undone } from "@lifeboat/core/propagation/applying";
import type { ReportedStatus } from "@lifeboat/core/propagation/observing";
import { compareVersions } from "@lifeboat/kit";
import type { AnsweredRecord, ManifestPorts } from "./keep-manifest.ts";
import { LateCreates, SETTLED_MS } from "./late-creates.ts";
import { generationOf, recordedUid } from "./work-fields.ts";

export interface WorkMemory {
  readonly uid: string;
  /** The newest state that our own writes answered: the cache may be behind. */
  written?: Work;
  writtenAt?: Instant;
  /** The status that was last sent, and of which generation: to see it come back is no news. */
  reported?: { readonly generation: number; readonly status: ReportedStatus };
  /** The generation of which the member has shown that it is applied. */
  proven?: number;
  /** What the member answered to the last write of each manifest, by the manifest's ordinal. */
  readonly applied: Map<number, AnsweredRecord>;
  /** How often in a row another client of the member changed the Work's objects and was undone. */
  undone?: Undone;
  readonly late: LateCreates;
  readonly ports: ManifestPorts;
  /** Its binding asked for it here after it was seen, see still-wanted.ts. */
  wanted: boolean;
  /** A write was sent to the member for it, whether its status shows that or not. */
  wrote: boolean;
  /** An Event was recorded that its removal waits for a person (restore-hold.ts). */
  toldHeld?: boolean;
  failures: number;
}

/** By the name of the Work: all Works of a cluster are in one namespace. */
export class WorkMemories {
  readonly #clock: Clock;
  readonly #portsWith: (late: LateCreates) => ManifestPorts;
  readonly #memories = new Map<string, WorkMemory>();
  /** Works that were there when this began: an earlier process may have requests for them under way. */
  readonly #inherited = new Set<string>();
  #begunAt = 0;

  constructor(clock: Clock, portsWith: (late: LateCreates) => ManifestPorts) {
    this.#clock = clock;
    this.#portsWith = portsWith;
  }

  /** Inherited Works count as such from here on, for SETTLED_MS. */
  begin(): void {
    this.#begunAt = this.#clock.monotonic();
  }

  /** The Work was there when this began. */
  inherit(name: string): void {
    this.#inherited.add(name);
  }

  /** The memory of a Work, new if there is none of its uid. */
  of(work: Work): WorkMemory {
    const { name, uid } = work.metadata;
    const known = this.#memories.get(name);
    if (known?.uid === uid) return known;
    const late = this.#lateCreatesOf(work);
    const ports = this.#portsWith(late);
    const unknown = { wanted: false, wrote: false, failures: 0 };
    const memory: WorkMemory = { uid, applied: new Map(), late, ports, ...unknown };
    this.#memories.set(name, memory);
    return memory;
  }

  forget(name: string): void {
    this.#memories.delete(name);
  }

  clear(): void {
    this.#memories.clear();
    this.#inherited.clear();
  }

  /** Ends the pauses of all Works that failed; answers their names. */
  endPauses(): readonly string[] {
    const failed: string[] = [];
    for (const [name, memory] of this.#memories) {
      if (memory.failures === 0) continue;
      memory.failures = 0;
      failed.push(name);
    }
    return failed;
  }

  /** Whether a Work is as the last report of it was sent: then only the member can have news. */
  isOwnReport(work: Work): boolean {
    const memory = this.#memories.get(work.metadata.name);
    if (memory?.reported === undefined) return false;
    const { reported, uid } = memory;
    return (
      work.metadata.uid === uid &&
      work.metadata.deletionTimestamp === undefined &&
      generationOf(work) === reported.generation &&
      equalJson(work.status, reported.status)
    );
  }

  #lateCreatesOf(work: Work): LateCreates {
    const { name } = work.metadata;
    const late = new LateCreates(this.#clock, () => this.#isInherited(name));
    if (recordedUid(work, 0) === undefined && this.#isInherited(name)) late.lost();
    return late;
  }

  #isInherited(name: string): boolean {
    if (this.#inherited.size === 0) return false;
    if (this.#clock.monotonic() - this.#begunAt >= SETTLED_MS) this.#inherited.clear();
    return this.#inherited.has(name);
  }
}

/** The Work as the cache has it, or as our own last write answered it, whichever is newer. */
export function newestOf(cached: Work, { written }: WorkMemory): Work {
  if (written === undefined) return cached;
  const { resourceVersion } = written.metadata;
  return compareVersions(cached.metadata.resourceVersion, resourceVersion) < 0 ? written : cached;
}
