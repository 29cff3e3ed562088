/** Oracles of the queue, on histories made up for them. */
import { describe, expect, it } from "vitest";
import { judged } from "./judged.suite.ts";

/** A binding that is on m1, or has left it for a taint. */
function decided(name: string, left: readonly string[], taint = "t:NoExecute@1") {
  const object = {
    kind: "ResourceBinding",
    metadata: {
      name,
      namespace: "default",
      uid: name,
      annotations: { "lifeboat.dev/evicted-for": JSON.stringify({ m1: `m1-1 ${taint}` }) },
    },
    spec: {
      resource: { kind: "Deployment", namespace: "default", name },
      clusters: left.includes("m1") ? [] : [{ name: "m1" }],
      gracefulEvictionTasks: left.map((fromCluster) => ({ fromCluster, producer: "TaintManager" })),
    },
  };
  return ["plane", `work.karmada.io/resourcebindings/default/${name}`, object] as const;
}

describe("evictions-keep-the-rate", () => {
  it.each([
    [1998, true],
    [2000, false],
  ])("with %i ms between two evictions it is broken: %s", (milliseconds, isBroken) => {
    const { said, write, pass } = judged();
    for (const name of ["a", "b"]) {
      write(...decided(name, []));
      write(...decided(name, ["m1"]), "MODIFIED");
      pass(milliseconds);
    }
    expect(said.join().includes("evictions-keep-the-rate")).toBe(isBroken);
  });
});

describe("nobody-is-evicted-twice", () => {
  it("speaks when the same taint moves a binding again, and not for another taint", () => {
    const { said, write, pass } = judged();
    const again = (taint: string): void => {
      pass(10_000);
      write(...decided("a", []), "MODIFIED");
      write(...decided("a", ["m1"], taint), "MODIFIED");
    };
    write(...decided("a", []));
    again("t:NoExecute@1");
    again("t:NoExecute@2");
    expect(said.join()).not.toContain("nobody-is-evicted-twice");
    again("t:NoExecute@2");
    expect(said.join()).toContain("nobody-is-evicted-twice");
  });
});
