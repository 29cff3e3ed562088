/**
 * The life of a plane under kill -9: eight writers, two watchers that resume, and an end at a random moment. The plane is
 * anything that can be killed (plane.ts); the judge is the HistoryChecker.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "@lifeboat/base";
import { HistoryChecker } from "./history-checker.ts";
import type { KillablePlane, StartPlane } from "./plane.ts";

const WRITERS = 8;
const KEYS = 40;
const LONGEST_LIFE_MS = 200;
/** The last key is below both. */
const PREFIXES = ["", "ns-1/"];
const LAST_KEY = "ns-1/last";

/** Writers and watchers on a plane that dies again and again; everything they see goes to the checker. */
export class KilledWorld {
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

  /** One more life, in which every watcher catches up: a last write is seen only after everything before it. */
  async finish(): Promise<void> {
    const plane = await this.#resume();
    const value = `value-${this.#written++}`;
    const write = this.checker.begin({ kind: "put", key: LAST_KEY, value });
    const revision = await plane.put(LAST_KEY, value);
    if (revision === "refused") throw new Error("the last write was refused");
    write.acknowledged(revision);
    while (PREFIXES.some((prefix) => (this.#seen.get(prefix) ?? 0) < revision)) await wait(5);
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
