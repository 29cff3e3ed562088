/** The generated reference is what the code says. After a change of a flag, a reason or an Event: `npm run generate`. */
import { describe, expect, it } from "vitest";
import { listFiles, readText } from "../repository.ts";
import { eventsIn, metricsIn, reasonTablesIn } from "./declared.ts";
import { referencePages } from "./pages.ts";

describe("docs/reference", () => {
  const pages = referencePages();

  it.each([...pages.keys()])("%s is up to date (else: npm run generate)", (name) => {
    expect(readText(`docs/reference/${name}`)).toBe(pages.get(name));
  });

  it("has flags with their defaults and variables, reasons with their sentences, and Events", () => {
    expect(pages.get("flags.md")).toContain("## lifeboat simulate");
    expect(pages.get("flags.md")).toMatch(
      /`--cluster-failure-threshold <TIME>`: .*\[default: 30s\]/,
    );
    expect(pages.get("reasons.md")).toMatch(/- `NoTarget`: [A-Z]/);
    expect(pages.get("reasons.md")).toContain("- `EvictionHeld` (Warning)");
  });
});

describe("docs/metrics.md", () => {
  const declared = listFiles()
    .filter((file) => /^packages\/[^/]+\/src\/.*metrics\.ts$/.test(file))
    .flatMap((file) => metricsIn(file, readText(file)));
  const rows = new Map(
    readText("docs/metrics.md")
      .split("\n")
      .map((line) => line.split("|").map((cell) => cell.trim()))
      .filter(([, name = ""]) => name.startsWith("`"))
      .map(([, name = "", kind = "", labels = ""]) => [name.replaceAll("`", ""), { kind, labels }]),
  );

  it("has each metric with the kind and the labels that the code gives it", () => {
    expect(declared.length).toBeGreaterThan(50);
    const wrong = declared.filter(({ name, kind, labels }) => {
      const row = rows.get(name);
      return row?.kind !== kind || (labels !== undefined && row.labels !== labels.join(", "));
    });
    expect(wrong).toEqual([]);
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
});
