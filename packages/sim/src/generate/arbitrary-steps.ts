/** What random people do. */
import fc from "fast-check";
import type { PolicyStep, Selected, Step, WorkloadKind } from "../scenario/scenario.ts";
import type { Size } from "./arbitrary-scenario.ts";

/** People and faults act within so many seconds. */
export const SPAN = 120;
export const time = fc.integer({ min: 0, max: SPAN });

/** The kind of a workload is part of its name, so that steps about one workload are about one. */
const KINDS: readonly WorkloadKind[] = [
  "Deployment",
  "StatefulSet",
  "ConfigMap",
  "Deployment",
  "Service",
  "Job",
];

function workloadOf(i: number): Selected {
  return { kind: KINDS[i % KINDS.length] ?? "Deployment", name: `w${i}` };
}

/** Any workload of the scenario. */
export function arbitraryWorkload({ workloads }: Size): fc.Arbitrary<Selected> {
  return fc.integer({ min: 0, max: workloads - 1 }).map(workloadOf);
}

/** The workloads of the beginning, each with its own policy. */
export function arbitraryPlacements(size: Size): fc.Arbitrary<readonly Step[]> {
  const [least, most] = size.first;
  return fc
    .uniqueArray(arbitraryWorkload(size), {
      minLength: least,
      maxLength: most,
      selector: ({ name }) => name,
    })
    .chain((workloads) =>
      fc.tuple(
        ...workloads.map((workload) =>
          fc
            .tuple(
              fc.integer({ min: 0, max: 5 }),
              arbitraryContent(workload),
              arbitraryPolicy(size, workload),
            )
            .map(([at, content, policy]): readonly Step[] => [
              { ...content, at },
              { ...policy, at },
            ]),
        ),
      ),
    )
    .map((steps) => steps.flat());
}

/** What a workload says. What a Job says cannot be changed, so it is always the same. */
function arbitraryContent(
  workload: Selected,
): fc.Arbitrary<Extract<Step, { readonly do: "workload" }>> {
  const fixed = workload.kind === "Job";
  return fc.record(
    {
      at: fc.constant(0),
      do: fc.constant("workload" as const),
      kind: fc.constant(workload.kind),
      name: fc.constant(workload.name),
      replicas: fixed ? fc.constant(2) : fc.integer({ min: 0, max: 5 }),
      version: fixed ? fc.constant(1) : fc.integer({ min: 1, max: 3 }),
      // The third workload is a ConfigMap.
      ...(!fixed && { uses: fc.constant("w2") }),
    },
    { requiredKeys: ["at", "do", "kind", "name", "replicas", "version"] },
  );
}

const purgeMode = fc.constantFrom("Directly" as const, "Gracefully" as const);
const state = fc.constantFrom(
  { "failover.karmada.io/ready": "{ .readyReplicas }" },
  { "failover.karmada.io/ready": "{ .readyReplicas }", "test.dev/seen": "{ .observedGeneration }" },
);

const application: fc.Arbitrary<NonNullable<PolicyStep["application"]>> = fc
  .record(
    {
      tolerationSeconds: fc.constantFrom(0, 5, 30),
      purgeMode: fc.constantFrom("Directly" as const, "Gracefully" as const, "Never" as const),
      gracePeriodSeconds: fc.constantFrom(5, 60),
      state,
    },
    { requiredKeys: ["tolerationSeconds", "purgeMode"] },
  )
  .map(({ gracePeriodSeconds, ...rest }) => ({
    ...rest,
    ...(rest.purgeMode === "Gracefully" && gracePeriodSeconds !== undefined
      ? { gracePeriodSeconds }
      : {}),
  }));

const spread: fc.Arbitrary<NonNullable<PolicyStep["spread"]>> = fc
  .tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 0, max: 2 }))
  .map(([min, more]) => ({ min, max: min + more }));

const tolerates: fc.Arbitrary<NonNullable<PolicyStep["tolerates"]>> = fc.oneof(
  fc.record(
    { effect: fc.constant("NoExecute" as const), seconds: fc.constantFrom(0, 5, 60) },
    { requiredKeys: ["effect"] },
  ),
  fc.record({ effect: fc.constant("NoSchedule" as const) }),
);

function arbitraryPolicy({ members }: Size, workload: Selected): fc.Arbitrary<PolicyStep> {
  const some = fc.subarray([...members], { minLength: 1 });
  return fc
    .record({
      basics: fc.record({
        clusters: some,
        // What a share of a Job says cannot be changed any more.
        divided: workload.kind === "Job" ? fc.constant(false) : fc.boolean(),
        aggregated: fc.boolean(),
        oneCopy: fc.boolean(),
      }),
      more: sometimes({
        affinities: fc.tuple(some, some),
        spread,
        purgeMode,
        failoverAfter: fc.constantFrom(0, 5, 30),
        state,
        tolerates,
        application,
        dependencies: fc.constant(true),
        overwrite: fc.constant(true),
        preserve: fc.constant(true),
      }),
    })
    .map(({ basics, more }) => ({
      do: "policy",
      name: `p-${workload.name}`,
      selects: [workload],
      ...basics,
      ...more,
    }));
}

/** Each of the fields, by a chance of one in four. */
function sometimes<T extends Readonly<Record<string, fc.Arbitrary<unknown>>>>(
  fields: T,
): fc.Arbitrary<Partial<{ [K in keyof T]: T[K] extends fc.Arbitrary<infer V> ? V : never }>> {
  const keys = Object.keys(fields);
  return fc
    .tuple(fc.record(fields), fc.tuple(...keys.map(() => fc.nat(3))))
    .map(
      ([all, tosses]) =>
        Object.fromEntries(
          keys.filter((_, i) => tosses[i] === 3).map((key) => [key, all[key as keyof typeof all]]),
        ) as never,
    );
}

/** What is done later, of some kinds of steps. */
export function arbitrarySteps(size: Size): fc.Arbitrary<readonly Step[]> {
  const kinds = arbitraryStepKinds(size);
  return someOf(kinds)
    .chain((chosen) => fc.array(fc.oneof(...chosen), { maxLength: size.steps }))
    .map((steps) => steps.flat());
}

/** At least one of them, as they are. */
export function someOf<T>(kinds: readonly T[]): fc.Arbitrary<readonly T[]> {
  return fc.subarray([...kinds], { minLength: 1 });
}

const taintPolicyName = fc.constantFrom("t1", "t2");
const namespaceName = fc.constantFrom("n1", "n2");
const effect = fc.constantFrom(
  "NoSchedule" as const,
  "NoExecute" as const,
  "NoExecute" as const,
  "PreferNoExecute" as const,
);
const seconds = fc.constantFrom(0, 1, 5, 30);

/** Each gives the steps of one deed: what is only for a while is taken back by a second one. */
function arbitraryStepKinds(size: Size): readonly fc.Arbitrary<readonly Step[]>[] {
  const member = fc.constantFrom(...size.members);
  const workload = arbitraryWorkload(size);
  const one = (step: fc.Arbitrary<Step>): fc.Arbitrary<readonly Step[]> =>
    step.map((done) => [done]);
  const aboutWorkload = (
    make: (of: Selected) => fc.Arbitrary<Step | Omit<PolicyStep, "at">>,
  ): fc.Arbitrary<readonly Step[]> =>
    fc.tuple(time, workload.chain(make)).map(([at, step]) => [{ ...step, at }]);
  return [
    aboutWorkload(arbitraryContent),
    aboutWorkload((of) => arbitraryPolicy(size, of)),
    one(
      fc
        .record({
          at: time,
          selects: workload,
          cluster: member,
          value: fc.constantFrom("x:1", "x:2"),
        })
        .filter(({ selects }) => selects.kind !== "Job")
        .map((step) => ({ ...step, do: "override", name: `o-${step.selects.name}` })),
    ),
    one(fc.tuple(time, workload, fc.constantFrom("workload", "policy", "override")).map(deletion)),
    one(fc.record({ at: time, do: fc.constant("namespace" as const), name: namespaceName })),
    one(
      fc
        .record({ at: time, name: namespaceName })
        .map((step) => ({ ...step, do: "delete", what: "namespace" })),
    ),
    one(fc.record({ at: time, do: fc.constantFrom("join" as const, "unjoin" as const), member })),
    one(
      fc.record({
        at: time,
        do: fc.constant("taint" as const),
        member,
        effect: fc.oneof(effect, fc.constant("drain" as const)),
        on: fc.boolean(),
      }),
    ),
    one(
      fc.record({
        at: time,
        do: fc.constant("taint-policy" as const),
        name: taintPolicyName,
        condition: fc.constant("Ready"),
        statuses: someOf(["False", "Unknown"] as const),
        effect,
        addAfter: seconds,
        removeAfter: seconds,
      }),
    ),
    one(
      fc
        .record({ at: time, name: taintPolicyName })
        .map((step) => ({ ...step, do: "delete", what: "taint-policy" })),
    ),
    one(fc.record({ at: time, do: fc.constant("fence" as const), member })),
    forAWhile((on) => ({ do: "pause-evacuations", on })),
    forAWhile((on) => ({ do: "gate", on: !on })),
    one(
      fc
        .record({ at: time, of: workload, clusters: someOf(size.members) })
        .map(({ of, ...step }) => ({ ...step, do: "place-by-hand", ...of })),
    ),
    one(
      fc
        .record({
          at: time,
          member,
          of: workload,
          how: fc.constantFrom("edit" as const, "delete" as const),
        })
        .map(({ of, ...step }) => ({ ...step, do: "drift", ...of })),
    ),
  ];
}

function forAWhile(
  step: (on: boolean) => { readonly do: "pause-evacuations" | "gate"; readonly on: boolean },
): fc.Arbitrary<readonly Step[]> {
  return fc.tuple(time, fc.integer({ min: 1, max: 60 })).map(([at, lasts]) => [
    { at, ...step(true) },
    { at: at + lasts, ...step(false) },
  ]);
}

function deletion([at, of, what]: readonly [number, Selected, string]): Step {
  if (what === "workload") return { at, do: "delete", what: of.kind, name: of.name };
  if (what === "policy") return { at, do: "delete", what: "policy", name: `p-${of.name}` };
  return { at, do: "delete", what: "override", name: `o-${of.name}` };
}
