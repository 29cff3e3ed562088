/** A person's word about a cluster: taken when it is silent, refused when it answers, and taken back. */
import { type Cluster, clusters } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CommandFailed } from "../failure.ts";
import { wordAbout, writeWord } from "./fence.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1));
const FENCED = "lifeboat.dev/fenced";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await createFleet({ members: ["m1"] });
});
afterEach(() => fleet.close());

async function ready(status: "True" | "False" | "Unknown"): Promise<Cluster> {
  const cluster = await fleet.plane.get(clusters, { namespace: "", name: "m1" });
  const condition = {
    type: "Ready",
    status,
    reason: "Test",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const changed = { ...cluster, status: { ...cluster.status, conditions: [condition] } };
  return fleet.plane.update(clusters, changed, { subresource: "status" });
}

async function said(): Promise<string | undefined> {
  const { metadata } = await fleet.plane.get(clusters, { namespace: "", name: "m1" });
  return metadata.annotations?.[FENCED];
}

describe("a word about a cluster", () => {
  it("names the time and the person", async () => {
    const word = wordAbout(await ready("Unknown"), NOW, "ann");
    expect(word).toBe('{"at":"2026-01-01T00:00:00Z","by":"ann"}');
    expect(await writeWord(fleet.plane, "m1", word, false)).toBe(true);
    expect(await said()).toBe(word);
    expect(await writeWord(fleet.plane, "m1", word, false)).toBe(false);
  });

  it("is refused when the cluster answers, also when it does so while the person thinks", async () => {
    const word = wordAbout(await ready("False"), NOW, "ann");
    const answering = await ready("True");
    expect(() => wordAbout(answering, NOW, "ann")).toThrow(CommandFailed);
    await expect(writeWord(fleet.plane, "m1", word, false)).rejects.toThrow(/answers/);
    expect(await said()).toBeUndefined();
  });

  it("can be taken back, and tried without saying it", async () => {
    const word = wordAbout(await ready("False"), NOW, "ann");
    expect(await writeWord(fleet.plane, "m1", word, true)).toBe(true);
    expect(await said()).toBeUndefined();
    await writeWord(fleet.plane, "m1", word, false);
    expect(await writeWord(fleet.plane, "m1", undefined, false)).toBe(true);
    expect(await said()).toBeUndefined();
    expect(await writeWord(fleet.plane, "m1", undefined, false)).toBe(false);
  });

  it("says which clusters there are when there is none of this name", async () => {
    await expect(writeWord(fleet.plane, "m9", undefined, false)).rejects.toThrow(/there are m1/);
  });
});
