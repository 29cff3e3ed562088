import fc from "fast-check";
import { expect, it } from "vitest";
import type { Node, PodSpec } from "../kinds.ts";
import { amountsOf, choosePlace, Ledger, requestsOf } from "./placement.ts";
import { node } from "./objects.suite.ts";

function podSpec(cpu: number): PodSpec {
  return { containers: [{ name: "c", resources: { requests: { cpu: `${cpu}m` } } }] };
}

const NODES: readonly Node[] = ["b", "a"].map((name) => node(name, { cpu: "1", pods: "4" }));

it.each([
  ["the first by name", podSpec(100), [], "a"],
  ["the one with fewer pods", podSpec(100), [["p", "a", 100]], "b"],
  [
    "the one with room",
    podSpec(600),
    [
      ["p", "a", 300],
      ["q", "a", 300],
      ["r", "b", 100],
    ],
    "b",
  ],
  ["none without room", podSpec(1100), [], "0/2 nodes are available: 2 Insufficient cpu."],
  [
    "none with another label",
    { ...podSpec(1), nodeSelector: { disk: "ssd" } },
    [],
    "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
  ],
] as const)("chooses %s", (_name, spec, taken, want) => {
  const ledger = new Ledger();
  for (const [pod, on, cpu] of taken) ledger.set(pod, on, requestsOf(podSpec(cpu)));
  const placement = choosePlace(spec, requestsOf(spec), NODES, ledger);
  expect(placement.kind === "node" ? placement.name : placement.message).toBe(want);
});

it("says that there are no nodes, and that cordoned ones do not count", () => {
  const spec = podSpec(1);
  const cordoned = NODES.map((item): Node => ({ ...item, spec: { unschedulable: true } }));
  expect(choosePlace(spec, requestsOf(spec), [], new Ledger())).toEqual({
    kind: "none",
    message: "no nodes available to schedule pods",
  });
  expect(choosePlace(spec, requestsOf(spec), cordoned, new Ledger())).toEqual({
    kind: "none",
    message: "0/2 nodes are available: 2 node(s) were unschedulable.",
  });
});

it("asks for the sum of the containers, or for the largest init container", () => {
  const spec: PodSpec = {
    containers: [
      { name: "a", resources: { requests: { cpu: "100m", memory: "1Ki" } } },
      { name: "b", resources: { requests: { cpu: "200m", memory: "nonsense" } } },
    ],
    initContainers: [{ name: "i", resources: { requests: { cpu: "250m", memory: "2Ki" } } }],
  };
  expect(Object.fromEntries(requestsOf(spec))).toEqual({ pods: 1, cpu: 300, memory: 2048 });
});

it("keeps the ledger equal to the sum over its pods, and never gives away more than there is", () => {
  const step = fc.record({
    pod: fc.integer({ min: 0, max: 9 }),
    cpu: fc.integer({ min: 0, max: 700 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const ledger = new Ledger();
      const placed = new Map<string, { readonly node: string; readonly cpu: number }>();
      for (const { pod, cpu } of steps) {
        const name = `pod-${pod}`;
        if (placed.delete(name)) {
          ledger.remove(name);
          continue;
        }
        const requests = requestsOf(podSpec(cpu));
        const choice = choosePlace(podSpec(cpu), requests, NODES, ledger);
        if (choice.kind !== "node") continue;
        ledger.set(name, choice.name, requests);
        ledger.set(name, choice.name, requests);
        placed.set(name, { node: choice.name, cpu });
      }
      for (const { metadata, status } of NODES) {
        const here = [...placed.values()].filter((entry) => entry.node === metadata.name);
        const used = ledger.used(metadata.name);
        expect(used.get("cpu") ?? 0).toBe(here.reduce((sum, { cpu }) => sum + cpu, 0));
        expect(used.get("pods") ?? 0).toBe(here.length);
        for (const [resource, amount] of amountsOf(status?.allocatable ?? {}))
          expect(used.get(resource) ?? 0).toBeLessThanOrEqual(amount);
      }
    }),
  );
});
