/** A soak as people see it: a line per hour of what there is, so that what piles up is seen. */
import { drainPromises } from "@lifeboat/base/adapters";
import { soak, type SoakHour } from "../soak.ts";
import type { Screen } from "./screen.ts";

const SIZE = { members: 5, workloads: 20 };
const HEAD = ["hour", "moves", "writes", "plane", "members", "heap", "broken"];

/** Runs so many hours; answers how many promises were broken. */
export async function runSoak(hours: number, screen: Screen): Promise<number> {
  let broken = 0;
  screen.say(lineOf(HEAD));
  for await (const hour of soak({ drain: drainPromises }, SIZE, hours)) {
    broken += hour.broken.length;
    for (const text of hour.broken) screen.say(`hour ${hour.hour}: ${text}`);
    screen.say(lineOf([...rowOf(hour), heap(), String(hour.broken.length)]));
  }
  return broken;
}

const WIDTH = 9;

function lineOf(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(WIDTH)).join("");
}

function rowOf({ hour, moves, writes, objects }: SoakHour): readonly string[] {
  const held = (server: string): number =>
    [...objects].reduce((sum, [place, count]) => sum + (place.startsWith(server) ? count : 0), 0);
  return [hour, moves, writes, held("plane "), held("members ")].map(String);
}

/** What is used, once it was tidied up where node lets us (`--expose-gc`). */
function heap(): string {
  globalThis.gc?.();
  return `${Math.round(process.memoryUsage().heapUsed / 1024 ** 2)} MB`;
}
