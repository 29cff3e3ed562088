/** A play goes on for longer than every wait that could still end: of the snapshot, of the request, and of the options. */
import {
  type AnyObject,
  clusterTaintPolicies,
  evacuationBudgets,
  multiClusterIngresses,
  propagationPolicies,
  type Resource,
  resourceBindings,
} from "@lifeboat/api";
import { addMs, formatTime, instantOf } from "@lifeboat/base";
import { expect, it, test } from "vitest";
import { restMsOf } from "./rest.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1, 12));
const MINUTE_MS = 60_000;

const object = (kind: string, spec: object, annotations = {}): AnyObject =>
  ({ kind, metadata: { name: "x", annotations }, spec }) as unknown as AnyObject;

function rest(
  tables: readonly (readonly [Pick<Resource, "group" | "plural">, AnyObject])[],
  more: object = {},
): number {
  const snapshot = {
    takenAt: NOW,
    version: "1",
    tables: tables.map(([resource, one]) => ({ resource: resource as Resource, objects: [one] })),
  };
  return restMsOf(snapshot, { controllers: {}, ...more });
}

const usual = rest([]);
const taints = (seconds: object): AnyObject =>
  object("ClusterTaintPolicy", { taintsToAdd: [{ key: "a", effect: "NoExecute", ...seconds }] });
const policy = (spec: object, annotations = {}): AnyObject =>
  object("PropagationPolicy", spec, annotations);
const rate = (perSecond: number): AnyObject =>
  object("EvacuationBudget", {
    rateOverride: {
      perSecond,
      setAt: formatTime(NOW),
      until: formatTime(addMs(NOW, 40 * MINUTE_MS)),
      reason: "",
    },
  });
const away = object(
  "ResourceBinding",
  { clusters: [{ name: "m2" }] },
  {
    "lifeboat.dev/former-result": JSON.stringify([{ name: "m1" }]),
    "lifeboat.dev/evicted-for": JSON.stringify({ m1: "mark" }),
  },
);
const failback = (text: string): AnyObject => policy({}, { "lifeboat.dev/failback": text });

test.each<[string, Parameters<typeof rest>, number]>([
  ["a taint comes", [[[clusterTaintPolicies, taints({ addOnMatchSeconds: 900 })]]], 15],
  [
    "a taint goes",
    [[[clusterTaintPolicies, taints({ addOnMatchSeconds: 5, removeOnMismatchSeconds: 1200 })]]],
    20,
  ],
  ["a taint goes, by default", [[[clusterTaintPolicies, taints({ addOnMatchSeconds: 5 })]]], 3],
  [
    "a planned taint goes",
    [[], { apply: [taints({ addOnMatchSeconds: 5, removeOnMismatchSeconds: 1200 })] }],
    20,
  ],
  [
    "a planned policy tolerates",
    [[], { apply: [policy({ placement: { clusterTolerations: [{ tolerationSeconds: 1800 }] } })] }],
    30,
  ],
  [
    "an unhealthy copy leaves gracefully",
    [
      [
        [
          resourceBindings,
          object("ResourceBinding", { failover: { application: { decisionConditions: {} } } }),
        ],
      ],
    ],
    10,
  ],
  ["a rate of 0 ends that a person set", [[[evacuationBudgets, rate(0)]]], 40],
  ["probes fail", [[], { controllers: { clusterFailureThresholdMs: 31 * MINUTE_MS } }], 30],
  [
    "an agent is silent",
    [[], { controllers: { clusterMonitorGracePeriodMs: 31 * MINUTE_MS } }],
    30,
  ],
  ["a slow rate", [[], { controllers: { resourceEvictionRate: 1 / 600 } }], 9],
  [
    "failback is stable",
    [
      [
        [propagationPolicies, failback("50m")],
        [resourceBindings, away],
      ],
    ],
    50,
  ],
  [
    "failback has its window open",
    [
      [
        [propagationPolicies, failback("50m;window=14:00-15:00")],
        [resourceBindings, away],
      ],
    ],
    120,
  ],
  ["nothing fails back", [[[propagationPolicies, failback("50m")]]], 0],
  ["load balancers confirm", [[[multiClusterIngresses, object("MultiClusterIngress", {})]]], 10],
  ["a replica is let go", [[], { controllers: { statefulSetLetGoTimeoutMs: 600_000 } }], 10],
])("waits until %s", (_what, given, minutes) => {
  const more = rest(...given) - usual;
  expect(more).toBeGreaterThanOrEqual(minutes * MINUTE_MS);
  expect(more).toBeLessThanOrEqual((minutes + 5) * MINUTE_MS);
});

it("is a few minutes for a fleet without any", () => {
  expect(usual).toBeGreaterThan(3 * MINUTE_MS);
  expect(usual).toBeLessThan(5 * MINUTE_MS);
});
