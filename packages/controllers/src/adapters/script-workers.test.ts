import type { Json } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { failureOf, resultsOf, testScriptEngine } from "./script-engine.suite.ts";
import { createScriptWorkers, type ScriptWorkers } from "./script-workers.ts";
import { bundleWorker } from "./worker-program.suite.ts";

const program = bundleWorker();
const QUICK = "function F(a) return a end";
const FOR_EVER = "function F() while true do end end";

describe("scripts in threads", { timeout: 60_000 }, () => {
  const engine = createScriptWorkers({
    program,
    timeoutMs: 2000,
    instructions: 200_000,
    textBytes: 2 * 1024 * 1024,
  });
  afterAll(() => engine.close());
  testScriptEngine(() => engine);

  it("end a pattern that takes for ever", async () => {
    const script = "function F() return (('a'):rep(60) .. 'b'):find(('a*'):rep(60) .. 'c') end";
    expect(await failureOf(engine, script)).toMatchObject({
      kind: "timeout",
      message: "the script took longer than 2000 ms",
    });
    expect(await resultsOf(engine, QUICK, [1])).toEqual([1]);
  });
});

describe("threads", { timeout: 60_000 }, () => {
  let engine: ScriptWorkers | undefined;
  afterEach(() => engine?.close());
  const open = (options: Parameters<typeof createScriptWorkers>[0] = {}): ScriptWorkers => {
    engine = createScriptWorkers({ program, ...options });
    return engine;
  };

  it("are ended when a script fills the heap", async () => {
    const few = open({ heapMegabytes: 24, timeoutMs: 30_000 });
    const script = "function F() local t = {} while true do t[#t + 1] = {} end end";
    expect(await failureOf(few, script)).toMatchObject({ kind: "memory" });
    expect(await resultsOf(few, QUICK, [1])).toEqual([1]);
  });

  it("are never all taken by one script", async () => {
    const one = open({ timeoutMs: 1000 });
    await Promise.all([resultsOf(one, QUICK, [1]), resultsOf(one, `${QUICK} --`, [1])]);
    let slowEnded = 0;
    const slow = Array.from({ length: 2 }, () =>
      failureOf(one, FOR_EVER).then((failure) => {
        slowEnded += 1;
        return failure.kind;
      }),
    );
    const quick: Json[] = [];
    for (let call = 0; call < 20; call += 1) quick.push(...(await resultsOf(one, QUICK, [call])));
    expect(slowEnded).toBeLessThan(2);
    expect(quick).toEqual(Array.from({ length: 20 }, (_, call) => call));
    expect(await Promise.all(slow)).toEqual(["timeout", "timeout"]);
  });

  it("refuse a call when too many wait", async () => {
    const narrow = open({ maxWaiting: 1, timeoutMs: 1000 });
    const calls = Array.from({ length: 4 }, () => failureOf(narrow, FOR_EVER));
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind);
    // One is under way, one waits, and there is no place for the others.
    expect(kinds).toEqual(["timeout", "timeout", "busy", "busy"]);
    expect(await resultsOf(narrow, QUICK, [1])).toEqual([1]);
  });

  it("fail a call that waited too long", async () => {
    const patient = open({ maxWaitMs: 500, timeoutMs: 1000 });
    const calls = Array.from({ length: 2 }, () => failureOf(patient, FOR_EVER));
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind);
    expect(kinds).toEqual(["timeout", "busy"]);
    expect(await resultsOf(patient, QUICK, [1])).toEqual([1]);
  });

  it("fail what is under way and what waits when they are closed", async () => {
    const closing = open({ timeoutMs: 30_000 });
    const calls = Array.from({ length: 3 }, () => failureOf(closing, FOR_EVER));
    await closing.close();
    for (const call of calls) expect((await call).message).toBe("no scripts are run any more");
    expect((await failureOf(closing, QUICK)).kind).toBe("busy");
  });

  it("see nothing of the process that started them", async () => {
    const call = { script: "function F() return os.getenv end", function: "F", results: 1 };
    expect(await open().run({ ...call, arguments: [], now: 0 as Instant })).toEqual([null]);
  });

  it("do not keep the process alive when nothing is under way", async () => {
    const keeping = (): readonly string[] =>
      process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort/.test(name));
    const before = keeping();
    await resultsOf(open(), QUICK, [1]);
    expect(keeping()).toEqual(before);
  });

  it("report what is wrong when their program cannot be started", async () => {
    const broken = open({ program: new URL("data:text/javascript,throw new Error('no')") });
    expect((await failureOf(broken, QUICK)).message).toContain("the thread of the script failed");
  });
});
