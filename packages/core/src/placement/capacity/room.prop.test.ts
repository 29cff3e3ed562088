/** Kept up to date by any sequence of changes, the room is what it would be if it were added up from the start. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { type NodeOffer, nodeOfferOf, type PodClaim, podClaimOf } from "./claims.ts";
import { Room } from "./room.ts";

const NAMES = ["a", "b", "c"];
const MODELS = [
  { grade: 0, ranges: [{ name: "cpu", min: "0", max: "2" }] },
  { grade: 1, ranges: [{ name: "cpu", min: "2", max: "100" }] },
];
const amount = fc.constantFrom("0", "1", "250m", "1500m", "3");
const memory = fc.constantFrom("64Mi", "1Gi", "1000000", "128974848");
const offer = fc
  .record({ cpu: amount, memory, ready: fc.constantFrom("True", "False") })
  .map(({ ready, ...allocatable }) =>
    nodeOfferOf({
      status: {
        allocatable: { ...allocatable, pods: "2" },
        conditions: [{ type: "Ready", status: ready }],
      },
    }),
  );
const claim = fc
  .record({ cpu: amount, memory, node: fc.constantFrom("", ...NAMES, "unknown") })
  .map(({ node, ...requests }) =>
    podClaimOf({ spec: { nodeName: node, containers: [{ resources: { requests } }] } }),
  );
const change = fc.oneof(
  fc.record({
    kind: fc.constant("node" as const),
    name: fc.constantFrom(...NAMES),
    now: fc.option(offer, { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant("pod" as const),
    name: fc.constantFrom("p1", "p2", "p3", "p4"),
    now: fc.option(claim, { nil: undefined }),
  }),
);

it("is the same, text by text, as one that is added up from the start", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const kept = new Room();
      const nodes = new Map<string, NodeOffer | undefined>();
      const pods = new Map<string, PodClaim | undefined>();
      for (const { kind, name, now } of changes) {
        if (kind === "node") {
          kept.changeNode(name, nodes.get(name), now);
          nodes.set(name, now);
        } else {
          kept.changePod(pods.get(name), now);
          pods.set(name, now);
        }
      }
      const fresh = new Room();
      for (const [, now] of [...pods].toReversed()) fresh.changePod(undefined, now);
      for (const [name, now] of [...nodes].toReversed()) fresh.changeNode(name, undefined, now);
      expect(kept.resourceSummary(MODELS)).toEqual(fresh.resourceSummary(MODELS));
      expect(kept.nodeSummary()).toEqual(fresh.nodeSummary());
    }),
    { numRuns: 200 },
  );
});
