/** What random people and tools do about traffic, and what goes wrong with load balancers and detectors. */
import fc from "fast-check";
import type { Fault, Scenario, Step } from "../scenario/scenario.ts";
import { ofLinks } from "./arbitrary-faults.ts";
import type { Size } from "./arbitrary-scenario.ts";
import { someOf, time } from "./arbitrary-steps.ts";

/** Workloads that get a Service of their own name. */
const SERVED = ["w0", "w1", "w3"];
const BALANCERS = ["lb1", "lb2"];
const DETECTORS = ["m1/a", "m1/b", "m2/a"];
const DNS = "ServiceDomainNameResolutionReady";

const remedyName = fc.constantFrom("r1", "r2", "r3");
const ingressName = fc.constantFrom("i1", "i2");
const status = fc.constantFrom("True" as const, "False" as const, "Unknown" as const);
const services = someOf(SERVED);

/** Services, ingresses, Remedies and load balancers besides what else happens in a world. */
export function withTraffic(worlds: fc.Arbitrary<Scenario>, size: Size): fc.Arbitrary<Scenario> {
  return fc
    .record({
      world: worlds,
      balancers: fc.subarray([...BALANCERS]),
      first: arbitraryServices(size),
      later: someOf(arbitraryKinds(size)).chain((chosen) =>
        fc.array(fc.oneof(...chosen), { maxLength: size.steps }),
      ),
      trouble: fc.array(fc.oneof(...troubles), { maxLength: 2 }),
      detectors: fc.subarray([...DETECTORS]),
      sickness: fc.array(fc.oneof(...sicknesses), { maxLength: 4 }),
    })
    .map(({ world, balancers, first, later, trouble, detectors, sickness }) => ({
      ...world,
      balancers,
      detectors,
      steps: [...world.steps, ...first, ...later].toSorted((a, b) => a.at - b.at),
      faults: [
        ...world.faults,
        ...trouble.filter((fault) => isOf(fault, balancers)),
        ...sickness.filter((fault) => isOf(fault, detectors)),
      ],
    }));
}

/** Whether a fault happens to one of these that run beside the plane. */
function isOf(fault: Fault, beside: readonly string[]): boolean {
  if ("balancer" in fault) return beside.includes(fault.balancer);
  if ("detector" in fault) return beside.includes(fault.detector);
  return "link" in fault && beside.includes(fault.link.replace(/\/plane$/, ""));
}

const detector = fc.constantFrom(...DETECTORS);
const sicknesses: readonly fc.Arbitrary<Fault>[] = [
  fc
    .record({ detector, from: time, lasts: fc.integer({ min: 1, max: 120 }) })
    .map(({ lasts, ...one }) => ({ fault: "names-fail", ...one, until: one.from + lasts })),
  fc.record({
    fault: fc.constant("detector-crash" as const),
    detector,
    at: time,
    downFor: fc.integer({ min: 1, max: 100 }),
  }),
  fc.record({
    fault: fc.constant("detector-pause" as const),
    detector,
    at: time,
    lasts: fc.integer({ min: 1, max: 100 }),
  }),
  ...ofLinks(
    DETECTORS.map((name) => `${name}/plane`),
    [],
  ),
];

const troubles: readonly fc.Arbitrary<Fault>[] = [
  fc.record({
    fault: fc.constant("balancer-crash" as const),
    balancer: fc.constantFrom(...BALANCERS),
    at: time,
    downFor: fc.integer({ min: 1, max: 60 }),
  }),
  ...ofLinks(
    BALANCERS.map((name) => `${name}/plane`),
    [],
  ),
];

function servicePolicy(name: string, clusters: readonly string[]): Step {
  return {
    at: 0,
    do: "policy",
    name: `s-${name}`,
    selects: [{ kind: "Service", name }],
    clusters,
  };
}

function arbitraryServices({ members }: Size): fc.Arbitrary<readonly Step[]> {
  const ingress = fc.record({
    at: fc.integer({ min: 0, max: 10 }),
    do: fc.constant("ingress" as const),
    name: ingressName,
    services,
  });
  return fc
    .tuple(fc.tuple(...SERVED.map(() => someOf(members))), ingress)
    .map(([places, first]) => [
      ...SERVED.flatMap((name, i): readonly Step[] => [
        { at: 0, do: "workload", kind: "Service", name, loadBalancer: true },
        servicePolicy(name, places[i] ?? members),
      ]),
      first,
    ]);
}

function arbitraryKinds({ members }: Size): readonly fc.Arbitrary<Step>[] {
  const member = fc.constantFrom(...members);
  const match = fc.record({
    condition: fc.constantFrom(DNS, DNS, "Ready"),
    operator: fc.constantFrom("Equal" as const, "NotEqual" as const),
    status,
  });
  return [
    fc.record(
      {
        at: time,
        do: fc.constant("remedy" as const),
        name: remedyName,
        clusters: someOf(members),
        matches: fc.array(match, { minLength: 1, maxLength: 2 }),
        actions: fc.constantFrom([], ["TrafficControl"], ["Dance", "TrafficControl"]),
      },
      { requiredKeys: ["at", "do", "name"] },
    ),
    fc
      .record({ at: time, name: remedyName })
      .map((step) => ({ ...step, do: "delete", what: "remedy" })),
    fc.record(
      {
        at: time,
        do: fc.constant("report" as const),
        member,
        condition: fc.constant(DNS),
        status,
      },
      { requiredKeys: ["at", "do", "member", "condition"] },
    ),
    fc.record({
      at: time,
      do: fc.constant("actions-by-hand" as const),
      member,
      actions: fc.constantFrom([], ["TrafficControl"], ["Foreign", "Foreign"]),
    }),
    fc.record({ at: time, do: fc.constant("release-blocks" as const) }),
    fc.record({ at: time, do: fc.constant("ingress" as const), name: ingressName, services }),
    fc
      .record({ at: time, name: ingressName })
      .map((step) => ({ ...step, do: "delete", what: "ingress" })),
    fc
      .record({ at: time, name: fc.constantFrom(...SERVED), clusters: someOf(members) })
      .map(({ at, name, clusters }) => ({ ...servicePolicy(name, clusters), at })),
  ];
}
