import { expect, it } from "vitest";
import { changeLines } from "./plan-text.ts";

const applied = [
  {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "web" },
  },
];
const rest = { unchanged: 14, tookMs: 12_300, playedMs: 200_000, isCutOff: false };

it("names what moves, what is not whole, and what stays, within 80 columns", () => {
  const lines = changeLines(applied, {
    ...rest,
    workloads: [
      {
        workload: "Deployment shop/web",
        before: "member1:2",
        after: "member2:2",
        isWhole: true,
        message: "",
      },
      {
        workload: "Deployment shop/cart",
        before: "member1:1",
        after: "",
        isWhole: false,
        message:
          "0/3 clusters are available: 3 clusters did not match the placement cluster affinity",
      },
    ],
  });
  expect(lines).toEqual([
    "With propagationpolicy/web as in the file:",
    "  2 workloads run elsewhere, the last after 12s; 1 not whole at the end.",
    "",
    "WORKLOAD             FROM → TO",
    "Deployment shop/web  member1:2 → member2:2",
    "",
    "Not whole at the end:",
    "WORKLOAD              FROM → TO",
    "Deployment shop/cart  member1:1 → nowhere: 0/3 clusters are available: 3",
    "                      clusters did not match the placement cluster affinity",
    "",
    "14 workloads: no change.",
  ]);
});

it("is short when nothing moves", () => {
  expect(changeLines(applied, { ...rest, unchanged: 1, workloads: [] })).toEqual([
    "With propagationpolicy/web as in the file:",
    "  no workload gets or loses a copy.",
    "",
    "1 workload: no change.",
  ]);
});
