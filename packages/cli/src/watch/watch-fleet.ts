/**
 * Follows the fleet, or one evacuation, on a screen: a line for each thing that happens and, on a terminal, the evacuations under way
 * drawn below. For programs each entry is a document of its own.
 *
 * 1. What is told comes from watches; nothing is listed again and again.
 * 2. A control plane that does not answer is told, once until something is seen again.
 * 3. An evacuation that is followed alone ends it; everything else goes on until the signal.
 * 4. What had happened before it began is drawn, and not told as if it happened now. One that had ended is told once, with its own time.
 */
import type { Evacuation, LedgerEntry } from "@lifeboat/api";
import { type Clock, parseTime, sleep } from "@lifeboat/base";
import { entriesBetween, entrySentence, type Move, workloadText } from "@lifeboat/core/history";
import { changeRecord } from "@lifeboat/controllers/context";
import { setRateText, withPause } from "@lifeboat/core/failover/evacuation";
import type { Client } from "@lifeboat/kit";
import { setPaused } from "../change-evacuation.ts";
import { Stage } from "../demo/stage.ts";
import { halfOf, ratesAt, recordRate } from "../fleet-rate.ts";
import type { Screen } from "../follow-evacuation.ts";
import { historyTime } from "../history/history-text.ts";
import { type Output, streamedText } from "../output.ts";
import { planeTime } from "../plane-clock.ts";
import { hanging } from "../wrap.ts";
import { FleetFeed } from "./fleet-feed.ts";
import { evacuationBlock } from "./moves-text.ts";
import { tell } from "../tell.ts";

export interface WatchFleetParts {
  readonly clock: Clock;
  readonly plane: Client;
  readonly screen: Screen & { readonly rows?: () => number | undefined };
  readonly output: Output<"text">;
  /** Only this one; "": the next that is under way; absent: the whole fleet. */
  readonly evacuation?: string;
  /** Calls back for every key that is pressed; absent: there is no keyboard. */
  readonly onKey?: (handler: (key: string) => void) => void;
}

const DRAW_MS = 500;
/** How long a rate holds that a key halved. */
const SLOW_MS = 30 * 60_000;
/** Lines beside the tables. */
const OTHER_LINES = 8;

export async function watchFleet(parts: WatchFleetParts, signal: AbortSignal): Promise<void> {
  const own = new AbortController();
  const both = AbortSignal.any([signal, own.signal]);
  await new FleetWatch(parts, () => own.abort()).run(both);
}

class FleetWatch {
  readonly #parts: WatchFleetParts;
  readonly #stage: Stage;
  readonly #feed: FleetFeed;
  readonly #end: () => void;
  #isSynced = false;
  #trouble = "";
  #followed: string | undefined;
  /** What was whole when it began, or has been told since. */
  readonly #healthy = new Set<string>();

  constructor(parts: WatchFleetParts, end: () => void) {
    this.#parts = parts;
    this.#end = end;
    this.#stage = new Stage(parts.clock, parts.screen);
    const { clock, plane } = parts;
    this.#feed = new FleetFeed({ clock, plane, onTrouble: (message) => this.#troubled(message) });
    this.#followed = parts.evacuation === "" ? undefined : parts.evacuation;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#parts.onKey?.((key) => void this.#pressed(key));
    const feed = this.#feed.run(
      (entries) => this.#tell(entries),
      () => this.#begin(),
      signal,
    );
    const drawing = this.#drawAll(signal);
    try {
      await Promise.race([feed, drawing]);
    } finally {
      this.#end();
      await Promise.allSettled([feed, drawing]);
      this.#stage.clear();
    }
    // A failure of the first reads is the command's.
    await feed;
  }

  #begin(): void {
    this.#isSynced = true;
    const open = this.#shown();
    for (const { id } of this.#newlyHealthy(open)) this.#healthy.add(id);
    if (this.#parts.output.kind !== "form") {
      for (const one of open.filter((shown) => !isOpen(shown))) this.#printEnd(one);
      return;
    }
    if (this.#parts.evacuation === undefined && open.length > 0) return;
    if (open.length === 0) this.#stage.tell(["no evacuation is under way; Ctrl-C ends this"]);
  }

  #tell(entries: readonly LedgerEntry[]): void {
    this.#trouble = "";
    for (const entry of entries) if (this.#isMeant(entry)) this.#print(entry);
  }

  #print(entry: LedgerEntry): void {
    this.#write({ ...entry, text: entrySentence(entry) });
  }

  /** A line for people, or the document that holds the same. */
  #write(entry: { readonly at: string; readonly text: string }): void {
    const { output, screen } = this.#parts;
    if (output.kind === "form") this.#stage.tell(hanging(historyTime(entry.at), entry.text));
    else screen.write(streamedText(output, entry));
  }

  /** Of one evacuation: what is about it, or about its cluster. */
  #isMeant({ evacuation, cluster, workload }: LedgerEntry): boolean {
    if (this.#parts.evacuation === undefined) return true;
    const followed = this.#current();
    if (followed === undefined) return evacuation !== undefined || cluster !== undefined;
    if (evacuation !== undefined) return evacuation === followed.metadata.name;
    if (cluster !== undefined) return cluster === followed.spec.cluster;
    return (
      workload !== undefined &&
      this.#feed
        .moves(followed)
        .some(
          ({ entry }) =>
            entry.resource.name === workload.name && entry.binding.namespace === workload.namespace,
        )
    );
  }

  #troubled(message: string): void {
    const text = `the control plane does not answer: ${message}; what is shown is old`;
    if (text === this.#trouble) return;
    this.#trouble = text;
    if (this.#parts.output.kind === "form") this.#stage.tell(hanging("", text));
    else tell(text, "");
  }

  /** The evacuations to draw. */
  #shown(): readonly Evacuation[] {
    if (this.#parts.evacuation !== undefined) {
      const one = this.#current();
      return one === undefined ? [] : [one];
    }
    return this.#feed.evacuations().filter(isOpen);
  }

  /** The one that is followed; the newest that is under way, where none was named. */
  #current(): Evacuation | undefined {
    const all = this.#feed.evacuations();
    if (this.#followed === undefined) this.#followed = all.findLast(isOpen)?.metadata.name;
    return all.find(({ metadata }) => metadata.name === this.#followed);
  }

  async #drawAll(signal: AbortSignal): Promise<void> {
    do {
      if (!this.#isSynced) continue;
      const shown = this.#shown();
      this.#tellHealthy(shown);
      const followed = this.#parts.evacuation === undefined ? undefined : this.#current();
      if (followed?.status?.finishedAt !== undefined) {
        if (this.#parts.output.kind === "form") this.#stage.print(this.#block(followed));
        return;
      }
      if (this.#parts.output.kind === "form") this.#stage.draw(this.#table(shown));
    } while (await sleep(this.#parts.clock, DRAW_MS, signal));
  }

  /** The end of one that was over before, as it is told of one that ends meanwhile. */
  #printEnd(evacuation: Evacuation): void {
    const { finishedAt, ...status } = evacuation.status ?? {};
    const before = { ...evacuation, status: { ...status, phase: "Running" as const } };
    const at = parseTime(finishedAt ?? "") ?? this.#parts.clock.now();
    for (const entry of entriesBetween(before, evacuation, at)) this.#print(entry);
  }

  #tellHealthy(shown: readonly Evacuation[]): void {
    for (const { id, evacuation, move } of this.#newlyHealthy(shown)) {
      this.#healthy.add(id);
      this.#tellOne(evacuation, move);
    }
  }

  #newlyHealthy(shown: readonly Evacuation[]) {
    return shown.flatMap((evacuation) =>
      this.#feed.moves(evacuation).flatMap((move) => {
        const id = `${evacuation.metadata.name} ${move.entry.binding.uid}`;
        const isNew = move.progress === "Healthy" && !this.#healthy.has(id);
        return isNew ? [{ id, evacuation, move }] : [];
      }),
    );
  }

  #tellOne({ metadata, spec }: Evacuation, { to, entry }: Move): void {
    const at = new Date(this.#parts.clock.now()).toISOString();
    const { namespace } = entry.binding;
    const workload = { ...entry.resource, ...(namespace === undefined ? {} : { namespace }) };
    const document = {
      at,
      action: "Whole",
      evacuation: metadata.name,
      cluster: spec.cluster,
      workload,
      text: `${workloadText(workload)} is whole on ${to}`,
    };
    this.#write(document);
  }

  #table(shown: readonly Evacuation[]): readonly string[] {
    if (shown.length === 0) return [];
    const rows = this.#parts.screen.rows?.();
    const limit =
      rows === undefined ? 20 : Math.max(3, Math.floor((rows - OTHER_LINES) / shown.length) - 4);
    const pause = this.#isFleet ? "p pauses all" : "p pauses or goes on";
    const keys =
      this.#parts.onKey === undefined
        ? []
        : [`${pause} · r halves the rate · e explains held · q leaves it running`];
    return [...shown.flatMap((one) => this.#block(one, limit)), ...keys];
  }

  #block(evacuation: Evacuation, limit?: number): readonly string[] {
    const now = this.#parts.clock.now();
    const moves = this.#feed.moves(evacuation);
    return evacuationBlock(evacuation, this.#feed.phases(evacuation), moves, now, limit);
  }

  async #pressed(key: string): Promise<void> {
    if (key === "q" || key === "\u0003") {
      this.#end();
      return;
    }
    const shown = this.#shown().filter(isOpen);
    if (shown.length === 0) return;
    try {
      if (key === "p") await this.#pause(shown);
      if (key === "r") await this.#slowDown();
    } catch (error) {
      this.#stage.tell(hanging("", error instanceof Error ? error.message : String(error)));
    }
    if (key === "e") {
      const held = shown
        .flatMap((one) => this.#feed.moves(one))
        .filter(({ held: why }) => why !== undefined);
      const lines = held.flatMap(({ workload, held: why = "" }) =>
        hanging("  ", `${workload}: ${why}; lifeboat explain shows more`),
      );
      this.#stage.tell(lines.length === 0 ? ["  nothing is held"] : lines);
    }
  }

  /** One evacuation stops and goes on. The whole fleet only stops: its release shows a plan and is asked about. */
  async #pause(shown: readonly Evacuation[]): Promise<void> {
    const { plane } = this.#parts;
    const [one] = shown;
    if (!this.#isFleet && one !== undefined) {
      await setPaused(plane, one.metadata.name, !one.spec.paused);
      return;
    }
    await changeRecord(plane, (parts) => {
      const spec = withPause(parts.spec, { of: "all" }, true);
      return spec === parts.spec ? parts : { ...parts, spec };
    });
    this.#stage.tell(["all evacuations are paused; go on: lifeboat evacuations resume --all"]);
  }

  /** A recorded rate for a time, which ends by itself. */
  async #slowDown(): Promise<void> {
    const { plane, clock } = this.#parts;
    const now = await planeTime(plane, clock);
    const rates = await ratesAt(plane, now);
    const before = rates.now.perSecond;
    if (!(before > 0)) {
      this.#stage.tell(["the rate is 0 already: nothing leaves"]);
      return;
    }
    const ends = { now, forMs: SLOW_MS };
    const half = halfOf(before, rates.ordered, ends, "halved in lifeboat watch");
    await recordRate(plane, half);
    this.#stage.tell([
      `the rate of the whole fleet is ${setRateText(half)} until ${half.until}; it was ${before}`,
      "take back: lifeboat evacuations rate --clear",
    ]);
  }

  get #isFleet(): boolean {
    return this.#parts.evacuation === undefined;
  }
}

function isOpen({ status }: Evacuation): boolean {
  return status?.finishedAt === undefined;
}
