/** What would become of a workload, as the sentence that a person reads first. */
import type { IfDied } from "@lifeboat/core/operating";
import { expect, test } from "vitest";
import { foresightLines } from "./explain-if-died.ts";

const NAMES = ["gate", "rule", "affected", "approval", "fence", "target"] as const;

function died(missing: readonly string[]): IfDied {
  return {
    cluster: "eu-1",
    moves: missing.length === 0,
    leavesAfterMs: 90_000,
    targets: [{ name: "eu-2", replicas: 2 }],
    carried: {},
    preconditions: NAMES.map((name) => ({ name, holds: !missing.includes(name), text: "why" })),
  };
}

test.each([
  [[], "it moves to eu-2:2 after 90s at the earliest."],
  [["fence"], "it leaves after 90s at the earliest, and starts on eu-2:2 once it is fenced."],
  [["approval"], "it moves to eu-2:2 after 90s at the earliest, once a person approves it."],
  [
    ["approval", "fence"],
    "it leaves after 90s at the earliest, once a person approves it, and starts on eu-2:2 once it is fenced.",
  ],
  [["gate", "approval"], "it stays there: gate, approval."],
])("without %j", (missing, sentence) => {
  const lines = foresightLines({ ifDied: [died(missing)], history: [] });
  const end = lines.findIndex((line) => line.startsWith("  ✓") || line.startsWith("  ✗"));
  const text = lines.slice(1, end).map((line) => line.trim());
  expect(text.join(" ")).toBe(`If eu-1 died: ${sentence}`);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});
