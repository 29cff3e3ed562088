/** What would become of a workload, as the sentence that a person reads first; and why there is nothing to explain. */
import type { IfDied } from "@lifeboat/core/operating";
import { createWorld, deployment, resources } from "@lifeboat/testkit";
import { expect, test } from "vitest";
import { foresightLines, whyNoBinding } from "./explain-if-died.ts";

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

const DEPLOYMENTS = ["deployment", "deployments", "Deployment", "deploy", "deployments.apps"];

test("what no binding is found for is not there, not claimed, or of a kind that is not served", async () => {
  const world = await createWorld();
  await world.client.create(resources.deployments, deployment("web"));
  const why = async (kind: string, name: string): Promise<string> =>
    (await whyNoBinding(world.client, { kind, name, namespace: "default" })).message;
  for (const kind of DEPLOYMENTS) {
    expect(await why(kind, "typo")).toBe(
      'there is no Deployment "typo" in the namespace "default" (-n NAME)',
    );
    expect(await why(kind, "web")).toBe(
      'no policy claims Deployment "web" in the namespace "default" (-n NAME): ' +
        "it stays on the control plane until a PropagationPolicy selects it",
    );
  }
  for (const kind of ["ingresses", "ingress", "ing"])
    expect(await why(kind, "typo")).toContain('there is no Ingress "typo"');
  for (const kind of ["networkpolicies", "netpol", "priorityclasses", "pc", "endpoints"])
    expect(await why(kind, "typo")).toContain("there is no ");
  expect(await why("boat", "web")).toBe(
    'the control plane has no kind "boat": deployment/web is an example',
  );
  await world.close();
});
