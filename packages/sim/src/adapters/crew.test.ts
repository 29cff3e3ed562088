/** Workers side by side, in processes of their own: who dies over a job is named and replaced. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Crew, type Shift } from "./crew.ts";
import { shares } from "./golden.ts";
import { describeJob, type Job } from "./work.ts";
import { WorkerProcess } from "./worker-process.ts";

/** Says what it was told to do; some seeds are bad for it. */
const PROGRAM = `
  process.on("disconnect", () => process.exit());
  process.send({ says: "alive" });
  process.on("message", ({ seed }) => {
    if (seed === 3) process.kill(process.pid, "SIGABRT");
    if (seed === 5) for (;;);
    if (seed === 7) process.exit(9);
    process.send({ says: "run", report: { what: "seed " + seed, hash: String(process.pid) } });
    process.send({ says: "done", rssBytes: seed === 2 ? 2 ** 40 : 1 });
  });
`;

let folder = "";
let entry = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "crew-"));
  entry = join(folder, "worker.mjs");
  writeFileSync(entry, PROGRAM);
});

afterAll(() => rmSync(folder, { recursive: true }));

const crewOf = (silenceMs: number): Crew =>
  new Crew(() => new WorkerProcess({ entry, args: [], silenceMs, execArgv: [] }));

class Seeds implements Shift {
  readonly ran = new Map<string, string>();
  readonly lostJobs: string[] = [];
  #next = 1;
  readonly #last: number;

  constructor(last: number) {
    this.#last = last;
  }

  next(): Job | undefined {
    if (this.#next > this.#last) return undefined;
    this.#next += 1;
    return { job: "seed", seed: this.#next - 1, size: "small", explain: false };
  }

  run({ what, hash }: { readonly what: string; readonly hash: string }): void {
    this.ran.set(what, hash);
  }

  note(): void {
    throw new Error("nobody has anything to say");
  }

  lost(job: Job, why: string): void {
    this.lostJobs.push(`${describeJob(job)}: ${why}`);
  }
}

describe("a crew", { timeout: 60_000 }, () => {
  it("does every job once, whatever becomes of those who do them", async () => {
    const seeds = new Seeds(10);
    await crewOf(2000).work(seeds, 3);
    expect([...seeds.ran.keys()].map((what) => Number(what.slice(5))).toSorted(byNumber)).toEqual([
      1, 2, 4, 6, 8, 9, 10,
    ]);
    expect(seeds.lostJobs.toSorted()).toEqual([
      "seed 3 (small): SIGABRT ended it",
      "seed 5 (small): nothing was heard of it for 2 s",
      "seed 7 (small): its process ended with code 9",
    ]);
  });

  it("gives the next job to a new process when one has grown large", async () => {
    const seeds = new Seeds(4);
    await crewOf(60_000).work(seeds, 1);
    const { ran } = seeds;
    expect(ran.get("seed 1")).toBe(ran.get("seed 2"));
    expect(ran.get("seed 4")).not.toBe(ran.get("seed 2"));
  });

  it("stops at once, and nobody hears of what was under way", async () => {
    const seeds = new Seeds(100);
    const crew = crewOf(60_000);
    const work = crew.work({ ...asShift(seeds), run: () => crew.stop() }, 2);
    await work;
    expect(seeds.lostJobs).toEqual([]);
    expect(seeds.next()).toBeDefined();
  });
});

it("divides the writes of golden scenarios so that each is disturbed by one worker", () => {
  for (const workers of [1, 2, 5]) {
    const writes = shares(["fail"], workers).flatMap((job) =>
      job.job === "golden" ? from(job.first, job.step, 30) : [],
    );
    expect(writes.toSorted(byNumber)).toEqual(from(1, 1, 30));
  }
});

function asShift(seeds: Seeds): Shift {
  return {
    next: () => seeds.next(),
    run: (report) => seeds.run(report),
    note: () => seeds.note(),
    lost: (job, why) => seeds.lost(job, why),
  };
}

function from(first: number, step: number, last: number): readonly number[] {
  const found: number[] = [];
  for (let write = first; write <= last; write += step) found.push(write);
  return found;
}

function byNumber(a: number, b: number): number {
  return a - b;
}
