/** Which nodes of a member load balancers send requests to. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeAddressOf, NodeAddresses } from "./node-addresses.ts";

const READY = [{ type: "Ready", status: "True" }];
const internal = { type: "InternalIP", address: "10.0.0.1" };
const external = { type: "ExternalIP", address: "192.0.2.1" };
const node = (status: object, more: object = {}): object => ({
  status: { conditions: READY, addresses: [internal], ...status },
  ...more,
});

describe("a node", () => {
  it.each<[string, object, string | undefined]>([
    ["is reached from outside", node({}), "10.0.0.1"],
    [
      "is reached by its external address first",
      node({ addresses: [internal, external] }),
      "192.0.2.1",
    ],
    ["is not ready", node({ conditions: [{ type: "Ready", status: "Unknown" }] }), undefined],
    ["has never reported", {}, undefined],
    ["takes no pods", node({}, { spec: { unschedulable: true } }), undefined],
    [
      "is excluded from load balancers",
      node(
        {},
        { metadata: { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" } } },
      ),
      undefined,
    ],
    ["has only a name", node({ addresses: [{ type: "Hostname", address: "n1" }] }), undefined],
    [
      "has an address that is none",
      node({ addresses: [{ ...internal, address: "10.0.0.1 x" }] }),
      undefined,
    ],
    ["is nonsense", { status: { conditions: "x", addresses: 7 } }, undefined],
  ])("that %s", (_name, given, expected) => {
    expect(nodeAddressOf(given)).toBe(expected);
  });
});

describe("the addresses of a member", () => {
  it("are those of its first nodes by name, whatever order they came in", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { maxLength: 30 }),
        fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { maxLength: 30 }),
        (come, go) => {
          const kept = new NodeAddresses();
          for (const i of come) kept.change(`n${i + 100}`, `10.0.0.${i}`);
          for (const i of go) kept.change(`n${i + 100}`, undefined);
          const left = come.filter((i) => !go.includes(i)).sort((a, b) => a - b);
          const expected = left.slice(0, 8).map((i) => `10.0.0.${i}`);
          expect(kept.list()).toEqual(expected.length === 0 ? undefined : expected.toSorted());
        },
      ),
    );
  });

  it("are the same object while nothing changes: at rest nothing is written", () => {
    const kept = new NodeAddresses();
    kept.change("n1", "10.0.0.1");
    const before = kept.list();
    kept.change("n1", "10.0.0.1");
    expect(kept.list()).toBe(before);
    kept.change("n2", "10.0.0.2");
    expect(kept.list()).not.toBe(before);
  });
});
