/**
 * How fast the store is on this machine's disk: `npm run bench:store -- [directory]`. Prints durable writes per second
 * for several numbers of concurrent writers, the cost of fan-out, and how long opening takes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStore, type StoreOptions } from "@lifeboat/apiserver";
import { openLmdbStorage } from "@lifeboat/apiserver/adapters";
import type { KubeObject } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import { silentLog } from "@lifeboat/kit";

const TABLE = "/configmaps";
const SECONDS = 4;
const OBJECTS = 20_000;
const OPTIONS: StoreOptions = { volatileTables: new Set() };
const PADDING = "x".repeat(2500);
const parent = process.argv[2] ?? tmpdir();
const ports = { clock: createRealClock(), log: silentLog };

type Store = Awaited<ReturnType<typeof createStore>>;

for (const writers of [1, 8, 32, 64, 256]) await writeFor(writers);
await fanOut();
await reopen();

async function writeFor(writers: number): Promise<void> {
  await inFolder(async (directory) => {
    const store = await createStore(ports, await openLmdbStorage(directory), OPTIONS);
    const latencies: number[] = [];
    const cpu = process.cpuUsage();
    const end = performance.now() + SECONDS * 1000;
    let next = 0;
    const writer = async (): Promise<void> => {
      while (performance.now() < end) {
        const started = performance.now();
        await put(store, `ns/name-${next++ % OBJECTS}`);
        latencies.push(performance.now() - started);
      }
    };
    await Promise.all(Array.from({ length: writers }, writer));
    const { user, system } = process.cpuUsage(cpu);
    latencies.sort((a, b) => a - b);
    const at = (part: number): string =>
      (latencies[Math.floor(latencies.length * part)] ?? 0).toFixed(2);
    console.log(
      `${writers} writers: ${Math.round(latencies.length / SECONDS)} durable writes/s, ` +
        `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${Math.round((user + system) / latencies.length)} µs of CPU each`,
    );
    await store.close();
  });
}

async function fanOut(): Promise<void> {
  await inFolder(async (directory) => {
    const store = await createStore(ports, await openLmdbStorage(directory), {
      volatileTables: new Set([TABLE]),
    });
    let delivered = 0;
    const sink = {
      change: () => {
        delivered += 1;
        return true;
      },
      end: () => undefined,
    };
    for (let i = 0; i < 1000; i++)
      store.watch(TABLE, { from: store.revision, needsPrevious: false }, sink);
    const started = performance.now();
    for (let i = 0; i < 2000; i++) await put(store, `ns/name-${i}`);
    const took = performance.now() - started;
    console.log(`fan-out: ${((took * 1e6) / delivered).toFixed(0)} ns per delivery, 1000 watchers`);
    await store.close();
  });
}

async function reopen(): Promise<void> {
  await inFolder(async (directory) => {
    const store = await createStore(ports, await openLmdbStorage(directory), OPTIONS);
    for (let i = 0; i < 100_000; i += 500)
      await Promise.all(Array.from({ length: 500 }, (_, j) => put(store, `ns/name-${i + j}`)));
    await store.close();
    const started = performance.now();
    const again = await createStore(ports, await openLmdbStorage(directory), OPTIONS);
    console.log(
      `opening ${again.count(TABLE, {})} objects with history: ${Math.round(performance.now() - started)} ms, ` +
        `${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB resident`,
    );
    await again.close();
  });
}

function put(store: Store, key: string): Promise<unknown> {
  const build = (revision: number): KubeObject => objectOf(key.slice(3), revision);
  return store.commit(TABLE, key, store.head(TABLE, key), { kind: "put", build });
}

/** About 2.8 KB of JSON in forty fields. */
function objectOf(name: string, revision: number): KubeObject & { readonly data: object } {
  const data: Record<string, string> = {};
  for (let i = 0; i < 40; i++) data[`field-${i}`] = PADDING.slice(0, 45);
  return {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: {
      name,
      namespace: "ns",
      uid: "11111111-1111-4111-8111-111111111111",
      resourceVersion: String(revision),
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    data,
  };
}

async function inFolder(body: (directory: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(parent, "lifeboat-bench-"));
  try {
    await body(join(folder, "store"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
