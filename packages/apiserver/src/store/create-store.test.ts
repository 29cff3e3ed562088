import { expect, test } from "vitest";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { silentLog } from "@lifeboat/kit";
import { createStore } from "./create-store.ts";
import { createMemoryStorage } from "./memory-storage.ts";

test("a written object is read back after it is durable, with kind and apiVersion first", async () => {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const store = await createStore(
    { clock, log: silentLog },
    createMemoryStorage(clock, { syncDelayMs: 1 }),
    { volatileTables: new Set() },
  );
  const done = store.commit("/configmaps", "ns/a", undefined, {
    kind: "put",
    build: (revision) => ({
      metadata: {
        name: "a",
        namespace: "ns",
        uid: "u",
        resourceVersion: String(revision),
        creationTimestamp: "2026-01-01T00:00:00Z",
      },
      apiVersion: "v1",
      kind: "ConfigMap",
    }),
  });
  await clock.settle();
  expect(store.get("/configmaps", "ns/a")).toBeUndefined();
  expect(store.head("/configmaps", "ns/a")?.revision).toBe(1);
  await clock.advance(1);
  const entry = await done;
  expect(store.get("/configmaps", "ns/a")).toBe(entry);
  expect(new TextDecoder().decode(entry.bytes)).toMatch(/^\{"kind":"ConfigMap","apiVersion":"v1",/);
});
