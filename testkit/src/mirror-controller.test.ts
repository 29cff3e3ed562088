/**
 * The kit's informer and controller on the in-process client under the virtual clock. Over TLS and on a real
 * kube-apiserver the same code runs in tests/portability.
 */
import { createRandom, hashText } from "@lifeboat/base";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import { expect, it } from "vitest";
import { createMirror, driveOriginals, expectedContent, readContent } from "./mirror-controller.ts";
import { createWorld } from "./world.ts";

interface Run {
  readonly content: unknown;
  /** Over every state of every object, in the order the informer saw them. */
  readonly hash: number;
  readonly changes: number;
}

async function runMirror(seed: number, restart = false): Promise<Run> {
  const world = await createWorld({ seed });
  const ports = {
    clock: world.clock,
    random: createRandom(seed),
    log: silentLog,
    metrics: silentMetrics,
  };
  let hash = 0;
  let changes = 0;
  const start = (): AbortController => {
    const stop = new AbortController();
    const mirror = createMirror(ports, world.client, "default");
    mirror.informer.onChange((old, now) => {
      changes += 1;
      hash = hashText(JSON.stringify([world.clock.now(), old ?? null, now ?? null]), hash);
    });
    void mirror.run(stop.signal);
    return stop;
  };
  let stop = start();
  await world.settle();
  await driveOriginals(world.client, "default");
  if (restart) {
    stop.abort();
    await world.restart();
    stop = start();
  }
  await world.advance("30s");
  const content = await readContent(world.client, "default");
  stop.abort();
  await world.advance("1s");
  await world.close();
  return { content, hash, changes };
}

it("converges to the expected content", async () => {
  const { content, changes } = await runMirror(1);
  expect(content).toEqual(expectedContent);
  expect(changes).toBeGreaterThan(20);
});

it("gives the same hash for the same seed, and another for another", async () => {
  const [first, again, other] = [await runMirror(7), await runMirror(7), await runMirror(8)];
  expect(again).toEqual(first);
  expect(other.content).toEqual(first.content);
  expect(other.hash).not.toBe(first.hash);
});

it("ends in the same content when server and controller die in the middle", async () => {
  expect((await runMirror(3, true)).content).toEqual(expectedContent);
});
