/**
 * Aim: whatever moment a plane is killed at, no acknowledged write is lost, and no watcher that resumes loses, repeats or
 * reorders an event. Method: writers and watchers run against a child process that is killed with SIGKILL at random
 * moments and started again on the same data; HistoryChecker judges everything they saw.
 *
 * LIFEBOAT_KILLS sets the number of kills (200), LIFEBOAT_SEED the randomness of moments and keys.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRandom, type Random } from "@lifeboat/base";
import { HistoryChecker } from "./history-checker.ts";
import type { KillablePlane, StartPlane } from "./plane.ts";
import { storePlanes } from "./store-plane.ts";

const KILLS = Number(process.env["LIFEBOAT_KILLS"] ?? 200);
const SEED = Number(process.env["LIFEBOAT_SEED"] ?? Date.now() % 1_000_000);
const WRITERS = 8;
const KEYS = 40;
const LONGEST_LIFE_MS = 120;
const PREFIXES = ["", "ns-1/"];

test(`no acknowledged write and no event is lost, doubled or reordered by ${KILLS} kills`, async () => {
  console.log(`LIFEBOAT_SEED=${SEED}`);
  const folder = mkdtempSync(join(tmpdir(), "lifeboat-kills-"));
  const planes = storePlanes(join(folder, "store"));
  try {
    const world = new World(planes.start, createRandom(SEED));
    for (let kill = 0; kill < KILLS; kill++) {
      await world.liveAndDie();
      if (kill % 20 === 0) expect(world.checker.violations()).toEqual([]);
    }
    await world.finish();
    expect(world.checker.violations()).toEqual([]);
    // The test means nothing when the child hardly gets to write.
    expect(world.checker.acknowledged).toBeGreaterThan(KILLS);
    console.log(`${world.checker.acknowledged} acknowledged writes, ${KILLS} kills`);
  } finally {
    planes.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}, 600_000);

class World {
  readonly checker = new HistoryChecker();
  readonly #start: StartPlane;
  readonly #random: Random;
  readonly #seen = new Map<string, number>();
  #written = 0;

  constructor(start: StartPlane, random: Random) {
    this.#start = start;
    this.#random = random;
    for (const prefix of PREFIXES) this.checker.addWatcher(prefix, prefix);
  }

  async liveAndDie(): Promise<void> {
    const plane = await this.#resume();
    const life = { isOver: false };
    for (let i = 0; i < WRITERS; i++)
      void this.#write(plane, life, this.#random.fork(`${this.#written}-${i}`));
    await wait(this.#random.next() * LONGEST_LIFE_MS);
    life.isOver = true;
    await plane.kill();
  }

  async finish(): Promise<void> {
    const plane = await this.#resume();
    await plane.kill();
  }

  /** Starts the next life: what it lists must be what its watchers, resumed, have seen. */
  async #resume(): Promise<KillablePlane> {
    const plane = await this.#start();
    for (const prefix of PREFIXES) {
      await plane.watch(prefix, this.#seen.get(prefix) ?? 0, (event) => {
        this.#seen.set(prefix, event.revision);
        this.checker.saw(prefix, event);
      });
      const { revision, items } = await plane.list(prefix);
      this.checker.listed(revision, prefix, items);
    }
    return plane;
  }

  async #write(
    plane: KillablePlane,
    life: { readonly isOver: boolean },
    random: Random,
  ): Promise<void> {
    while (!life.isOver) {
      const key = `ns-${random.below(3)}/name-${random.below(KEYS)}`;
      if (random.next() < 0.2) {
        const write = this.checker.begin({ kind: "remove", key });
        if ((await plane.remove(key)) === "done") write.acknowledged();
        else write.refused();
      } else {
        const value = `value-${this.#written++}`;
        const write = this.checker.begin({ kind: "put", key, value });
        const answer = await plane.put(key, value);
        if (answer === "refused") write.refused();
        else write.acknowledged(answer);
      }
    }
  }
}
