/** The generated reference is what the code says. After a change of a flag, a reason, an Event or a metric: `npm run generate`. */
import { describe, expect, it } from "vitest";
import { readText } from "../repository.ts";
import { eventsIn, metricsIn, reasonTablesIn } from "./declared.ts";
import { referencePages } from "./pages.ts";

describe("docs/reference", () => {
  const pages = referencePages();

  it.each([...pages.keys()])("%s is up to date (else: npm run generate)", (name) => {
    expect(readText(`docs/reference/${name}`)).toBe(pages.get(name));
  });

  it("has flags with their defaults and variables, reasons with their sentences, Events, and metrics with their labels", () => {
    expect(pages.get("flags.md")).toContain("## lifeboat simulate");
    expect(pages.get("flags.md")).toMatch(
      /`--cluster-failure-threshold <TIME>`: .*\[default: 30s\]/,
    );
    expect(pages.get("reasons.md")).toMatch(/- `NoTarget`: [A-Z]/);
    expect(pages.get("reasons.md")).toContain("- `EvictionHeld` (Warning)");
    expect(pages.get("metrics.md")).toMatch(
      /^- `cluster_ready_state` \(gauge, by `member_cluster`\): 1 /m,
    );
    // One made where it is declared, one declared in another file, one with labels that are a constant.
    for (const name of ["lifeboat_proxy_tunnels", "kit_leader", "cluster_node_number"])
      expect(pages.get("metrics.md")?.split(`\`${name}\``)).toHaveLength(2);
  });
});

describe("what a source declares", () => {
  it("is found in tables and in Events, also behind a choice or a constant", () => {
    const source = `
      /** About this. More. */
      const HELD = "Held";
      export const someReasons = defineReasons({ One: "First." , Two: "Sec" + "ond." });
      events.record(x, { type: bad ? "Warning" : "Normal", reason: done ? "Done" : HELD, message });
      events.record(x, { type: "Normal", reason, message });
      const other = { type: "Ready", reason: "NoEvent" };`;
    expect(reasonTablesIn("a.ts", source)).toEqual([
      {
        name: "someReasons",
        file: "a.ts",
        about: "About this.",
        reasons: [
          ["One", "First."],
          ["Two", "Second."],
        ],
      },
    ]);
    expect(eventsIn("a.ts", source)).toEqual([
      { reason: "Done", types: ["Warning", "Normal"] },
      { reason: "Held", types: ["Warning", "Normal"] },
    ]);
  });

  it("is found in metrics, whose definition may be a constant of another source", () => {
    const declared = `
      const labels = ["cluster"] as const;
      export const depth = { name: "depth", help: "How deep.", labels };
      export const unused = { name: "unused", help: "Never made." };`;
    const made = `
      metrics.gauge(declared.depth);
      metrics.gauge(depth);
      metrics.counter({ name: "seen_total", help: "All.", labels: ["by"] });
      metrics.counter(definition);`;
    expect(
      metricsIn([
        ["a.ts", declared],
        ["b.ts", made],
      ]),
    ).toEqual([
      { name: "depth", kind: "gauge", labels: ["cluster"], help: "How deep." },
      { name: "seen_total", kind: "counter", labels: ["by"], help: "All." },
    ]);
  });
});
