/** When one object of a Work is reconciled again. */
import { type Clock, instantOf } from "@lifeboat/base";
import { expect, it } from "vitest";
import { keepManifest, type ManifestLook, type ManifestPorts } from "./keep-manifest.ts";

it("comes later than now, however little is left of its patience", async () => {
  const now = instantOf(1_767_225_717_023.3284);
  const monotonic = 57_023.328_487_386_93;
  const since = 52_023.328_487_386_934;
  expect(now + (since + 5000 - monotonic)).toBe(now);
  const ports = {
    clock: { now: () => now, monotonic: () => monotonic } as Clock,
    objects: { get: () => ({ kind: "unsynced", since }) },
  } as unknown as ManifestPorts;
  const look = { reference: {} } as ManifestLook;
  const kept = await keepManifest(ports, look, new AbortController().signal);
  expect(kept).toEqual({ waitUntil: now + 1 });
});
