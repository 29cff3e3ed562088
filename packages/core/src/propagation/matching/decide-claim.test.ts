import { describe, expect, it } from "vitest";
import { changeOfClaim, claimOf } from "./claim.ts";
import { decideClaim } from "./decide-claim.ts";
import { claimKeys, DEPLOYMENT, policyOf, templateOf, wideClaimKeys } from "./matching.suite.ts";
import type { Policy } from "./policy.ts";

const here = { ...DEPLOYMENT, namespace: "default" };
const byName = { resourceSelectors: [{ ...here, name: "web" }] };
const byLabel = {
  resourceSelectors: [{ ...here, labelSelector: { matchLabels: { app: "web" } } }],
};
const byEmptyLabels = { resourceSelectors: [{ ...here, labelSelector: {} }] };
const others = { resourceSelectors: [{ ...here, name: "api" }] };
const always = { preemption: "Always" } as const;
const wide = { wide: true };

interface Row {
  readonly case: string;
  readonly claim?: ReturnType<typeof claimKeys>;
  readonly policies: readonly Policy[];
  readonly answer: readonly [reason: string, policy?: string, from?: string];
}

const rows: readonly Row[] = [
  { case: "nothing selects it", policies: [policyOf("a", others)], answer: ["NoPolicyMatches"] },
  { case: "no policies at all", policies: [], answer: ["NoPolicyMatches"] },
  {
    case: "a name beats labels beat all",
    policies: [policyOf("a"), policyOf("b", byLabel), policyOf("c", byName)],
    answer: ["Claimed", "c"],
  },
  {
    case: "an empty label selector is more precise than none",
    policies: [policyOf("a"), policyOf("b", byEmptyLabels)],
    answer: ["Claimed", "b"],
  },
  {
    case: "priority beats precision",
    policies: [policyOf("a", byName), policyOf("b", { priority: 1 })],
    answer: ["Claimed", "b"],
  },
  {
    case: "a negative priority is lower than none",
    policies: [policyOf("a", { ...byName, priority: -1 }), policyOf("b")],
    answer: ["Claimed", "b"],
  },
  {
    case: "the name that sorts first breaks a tie",
    policies: [policyOf("b"), policyOf("B"), policyOf("a")],
    answer: ["Claimed", "B"],
  },
  {
    case: "a namespaced policy beats a cluster policy of any priority",
    policies: [policyOf("w", { ...byName, priority: 9 }, wide), policyOf("z", { priority: -5 })],
    answer: ["Claimed", "z"],
  },
  {
    case: "a policy that is being deleted claims nothing",
    policies: [policyOf("a", byName, { deleting: true }), policyOf("w", {}, wide)],
    answer: ["Claimed", "w"],
  },
  {
    case: "a policy without an id claims nothing",
    policies: [policyOf("a", byName, { id: "" })],
    answer: ["NoPolicyMatches"],
  },
  {
    case: "a claim is kept against better policies that do not preempt",
    claim: claimKeys("a"),
    policies: [policyOf("a"), policyOf("b", { ...byName, priority: 9 })],
    answer: ["ClaimKept", "a"],
  },
  {
    case: "a cluster policy's claim is kept against namespaced ones that do not preempt",
    claim: wideClaimKeys("w"),
    policies: [policyOf("w", {}, wide), policyOf("b", { ...byName, priority: 9 })],
    answer: ["ClaimKept", "w"],
  },
  {
    case: "a claim of a policy that is gone is void",
    claim: claimKeys("gone"),
    policies: [policyOf("b")],
    answer: ["Claimed", "b"],
  },
  {
    case: "a claim under a former id is void, and the new policy of that name competes with the others",
    claim: claimKeys("a", "former"),
    policies: [policyOf("a"), policyOf("b", byName)],
    answer: ["Claimed", "b"],
  },
  {
    case: "a claim of a policy that is being deleted is void",
    claim: claimKeys("a"),
    policies: [policyOf("a", {}, { deleting: true })],
    answer: ["NoPolicyMatches"],
  },
  {
    case: "a claim of a policy that selects something else now is void",
    claim: claimKeys("a"),
    policies: [policyOf("a", others), policyOf("w", {}, wide)],
    answer: ["Claimed", "w"],
  },
  {
    case: "half a claim is void",
    claim: { ...claimKeys("a"), labels: {} },
    policies: [policyOf("a"), policyOf("b", byName)],
    answer: ["Claimed", "b"],
  },
  {
    case: "a namespaced policy preempts one of strictly lower priority",
    claim: claimKeys("a"),
    policies: [policyOf("a"), policyOf("b", { ...byName, ...always, priority: 1 })],
    answer: ["Preempted", "b", "a"],
  },
  {
    case: "equal priority does not preempt",
    claim: claimKeys("a"),
    policies: [policyOf("a"), policyOf("b", { ...byName, ...always })],
    answer: ["ClaimKept", "a"],
  },
  {
    case: "a namespaced policy preempts a cluster policy of any priority",
    claim: wideClaimKeys("w"),
    policies: [
      policyOf("w", { priority: 9 }, wide),
      policyOf("b", { ...byName, ...always, priority: -3 }),
    ],
    answer: ["Preempted", "b", "w"],
  },
  {
    case: "a cluster policy preempts a cluster policy of strictly lower priority",
    claim: wideClaimKeys("w"),
    policies: [
      policyOf("w", {}, wide),
      policyOf(
        "x",
        { resourceSelectors: [{ ...DEPLOYMENT, name: "web" }], ...always, priority: 1 },
        wide,
      ),
    ],
    answer: ["Preempted", "x", "w"],
  },
  {
    case: "a cluster policy never preempts a namespaced one",
    claim: claimKeys("a"),
    policies: [
      policyOf("a"),
      policyOf(
        "x",
        { resourceSelectors: [{ ...DEPLOYMENT, name: "web" }], ...always, priority: 9 },
        wide,
      ),
    ],
    answer: ["ClaimKept", "a"],
  },
  {
    case: "of several that may preempt the best does",
    claim: claimKeys("a"),
    policies: [
      policyOf("a"),
      policyOf("b", { ...byName, ...always, priority: 1 }),
      policyOf("c", { ...byName, ...always, priority: 2 }),
    ],
    answer: ["Preempted", "c", "a"],
  },
  {
    case: "one that is being deleted does not preempt",
    claim: claimKeys("a"),
    policies: [
      policyOf("a"),
      policyOf("b", { ...byName, ...always, priority: 1 }, { deleting: true }),
    ],
    answer: ["ClaimKept", "a"],
  },
];

describe("whose a template is", () => {
  it.each(rows)("$case", ({ claim, policies, answer }) => {
    const template = templateOf(claim);
    const decision = decideClaim({ template, ignored: false, policies });
    const { reason, policy, from } = decision;
    expect([reason, policy?.metadata.name, from?.name]).toEqual([answer[0], answer[1], answer[2]]);
  });

  it("has no claim when policies leave it alone, whatever it claims itself", () => {
    const view = { template: templateOf(claimKeys("a")), ignored: true, policies: [policyOf("a")] };
    expect(decideClaim(view)).toEqual({ reason: "Ignored" });
  });
});

describe("a claim", () => {
  it("is written whole, takes that of the other scope away, and is then right", () => {
    const template = templateOf({ ...wideClaimKeys("w") });
    const change = changeOfClaim(template, policyOf("a"), undefined);
    expect(change).toEqual({
      labels: {
        "propagationpolicy.karmada.io/permanent-id": "id-a",
        "clusterpropagationpolicy.karmada.io/permanent-id": undefined,
      },
      annotations: {
        "propagationpolicy.karmada.io/namespace": "default",
        "propagationpolicy.karmada.io/name": "a",
        "clusterpropagationpolicy.karmada.io/name": undefined,
      },
    });
    expect(changeOfClaim(templateOf(claimKeys("a")), policyOf("a"), undefined)).toBeUndefined();
  });

  it("taken away leaves nothing, not even half of one", () => {
    const { labels, annotations } = claimKeys("a");
    expect(changeOfClaim(templateOf({ labels }), undefined, undefined)?.labels).toEqual({
      "propagationpolicy.karmada.io/permanent-id": undefined,
    });
    expect(claimOf(templateOf({ annotations }))).toBeUndefined();
    expect(changeOfClaim(templateOf(), undefined, undefined)).toBeUndefined();
  });
});
