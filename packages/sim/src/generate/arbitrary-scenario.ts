/**
 * Random scenarios, by fast-check, so that a failing one shrinks: fewer steps, fewer faults, simpler times.
 *
 * Swarm: which kinds of faults a scenario may have is drawn first, so that some runs have many of one kind and none of
 * another.
 */
import fc from "fast-check";
import type { LinkConditions } from "../network/link.ts";
import type { Fault, Scenario, Step, WorkloadKind } from "../scenario/scenario.ts";

/** People and faults act within so many seconds. */
const SPAN = 120;
const KINDS: readonly WorkloadKind[] = ["Deployment", "StatefulSet", "ConfigMap"];

export interface Size {
  readonly members: readonly string[];
  readonly workloads: number;
  readonly steps: number;
  readonly faults: number;
}

export const SMALL: Size = { members: ["m1", "m2", "m3"], workloads: 3, steps: 10, faults: 4 };

export function arbitraryScenario(size: Size): fc.Arbitrary<Scenario> {
  const { members } = size;
  return fc
    .record({
      seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      syncDelayMs: fc.constantFrom(0, 0, 1, 5),
      failover: fc.boolean(),
      first: fc.array(arbitraryPlacement(size), { minLength: 1, maxLength: size.workloads }),
      later: fc.array(arbitraryStep(size), { maxLength: size.steps }),
      faults: arbitraryFaults(members, size.faults),
    })
    .map(({ seed, syncDelayMs, failover, first, later, faults }) => ({
      name: `random ${seed}`,
      seed,
      members,
      syncDelayMs,
      failover,
      steps: [...first.flat(), ...later].toSorted((a, b) => a.at - b.at),
      faults,
    }));
}

const time = fc.integer({ min: 0, max: SPAN });
const chance = fc.constantFrom(0.05, 0.2, 0.5);

const workloadOf = (i: number): { readonly kind: WorkloadKind; readonly name: string } => ({
  kind: KINDS[i % KINDS.length] ?? "Deployment",
  name: `w${i}`,
});

function arbitraryWorkload({ workloads }: Size): fc.Arbitrary<ReturnType<typeof workloadOf>> {
  return fc.integer({ min: 0, max: workloads - 1 }).map(workloadOf);
}

/** A workload and its own policy. */
function arbitraryPlacement(size: Size): fc.Arbitrary<readonly Step[]> {
  return fc
    .record({
      workload: arbitraryWorkload(size),
      replicas: fc.integer({ min: 0, max: 5 }),
      at: fc.integer({ min: 0, max: 5 }),
      policy: arbitraryPolicy(size),
    })
    .map(({ workload, replicas, at, policy }) => [
      { at, do: "workload", ...workload, replicas },
      { ...policy, at, name: `p-${workload.name}`, selects: [workload] },
    ]);
}

function arbitraryPolicy({
  members,
}: Size): fc.Arbitrary<Extract<Step, { readonly do: "policy" }>> {
  return fc.record({
    at: time,
    do: fc.constant("policy" as const),
    name: fc.constant(""),
    selects: fc.constant([]),
    clusters: fc.subarray([...members], { minLength: 1 }),
    divided: fc.boolean(),
    oneCopy: fc.boolean(),
  });
}

function arbitraryStep(size: Size): fc.Arbitrary<Step> {
  const member = fc.constantFrom(...size.members);
  const workload = arbitraryWorkload(size);
  return fc.oneof(
    fc
      .record({
        at: time,
        workload,
        replicas: fc.integer({ min: 0, max: 5 }),
        version: fc.integer({ min: 1, max: 3 }),
      })
      .map(({ at, workload: of, replicas, version }) => ({
        at,
        do: "workload" as const,
        ...of,
        replicas,
        version,
      })),
    fc
      .record({ at: time, workload, policy: arbitraryPolicy(size) })
      .map(({ at, workload: of, policy }) => ({
        ...policy,
        at,
        name: `p-${of.name}`,
        selects: [of],
      })),
    fc
      .record({ at: time, workload, cluster: member, value: fc.constantFrom("x:1", "x:2") })
      .map(({ at, workload: of, cluster, value }) => ({
        at,
        do: "override" as const,
        name: `o-${of.name}`,
        selects: of,
        cluster,
        value,
      })),
    fc
      .record({ at: time, workload, what: fc.constantFrom("workload", "policy", "override") })
      .map(({ at, workload: of, what }): Step => {
        if (what === "workload") return { at, do: "delete", what: of.kind, name: of.name };
        if (what === "policy") return { at, do: "delete", what: "policy", name: `p-${of.name}` };
        return { at, do: "delete", what: "override", name: `o-${of.name}` };
      }),
    fc.record({
      at: time,
      do: fc.constant("namespace" as const),
      name: fc.constantFrom("n1", "n2"),
    }),
    fc.record({
      at: time,
      do: fc.constant("delete" as const),
      what: fc.constant("namespace" as const),
      name: fc.constantFrom("n1", "n2"),
    }),
    fc.record({ at: time, do: fc.constantFrom("join" as const, "unjoin" as const), member }),
    fc.record({
      at: time,
      do: fc.constant("taint" as const),
      member,
      effect: fc.constantFrom("NoSchedule", "NoExecute", "NoExecute", "PreferNoExecute", "drain"),
      on: fc.boolean(),
    }),
    fc
      .record({
        at: time,
        member,
        workload,
        how: fc.constantFrom("edit" as const, "delete" as const),
      })
      .map(({ at, member: where, workload: of, how }) => ({
        at,
        do: "drift" as const,
        member: where,
        ...of,
        how,
      })),
  );
}

function arbitraryFaults(members: readonly string[], most: number): fc.Arbitrary<readonly Fault[]> {
  const kinds = arbitraryFaultKinds(members);
  return fc
    .subarray(
      kinds.map((_, i) => i),
      { minLength: 1 },
    )
    .chain((chosen) =>
      fc.array(
        fc.oneof(
          ...chosen.map(
            (i) => kinds[i] ?? fc.constant<Fault>({ fault: "reset", link: "plane", at: 0 }),
          ),
        ),
        {
          maxLength: most,
        },
      ),
    );
}

const downFor = fc.integer({ min: 1, max: 60 });

/** From when until when: a minute and a half at most. */
const span = fc
  .record({ from: time, lasts: fc.integer({ min: 1, max: 90 }) })
  .map(({ from, lasts }) => ({ from, until: from + lasts }));

function arbitraryFaultKinds(members: readonly string[]): readonly fc.Arbitrary<Fault>[] {
  const member = fc.constantFrom(...members);
  const anyLink = fc.constantFrom("plane", ...members);
  const onLink = (
    link: fc.Arbitrary<string>,
    conditions: fc.Arbitrary<LinkConditions>,
  ): fc.Arbitrary<Fault> =>
    fc
      .record({ link, conditions, span })
      .map(({ span: when, ...rest }) => ({ fault: "link", ...rest, ...when }));
  return [
    fc.record({ fault: fc.constant("crash" as const), at: time, downFor }),
    fc.record({
      fault: fc.constant("crash-at-write" as const),
      write: fc.integer({ min: 1, max: 120 }),
      moment: fc.constantFrom("before" as const, "after" as const),
      downFor,
    }),
    fc.record({
      fault: fc.constant("lost-answer-at-write" as const),
      write: fc.integer({ min: 1, max: 120 }),
    }),
    fc.record({ fault: fc.constant("reset" as const), link: anyLink, at: time }),
    onLink(member, fc.record({ partition: fc.constantFrom("both", "requests", "answers") })),
    onLink(member, fc.constant({ down: true })),
    onLink(anyLink, fc.record({ fail: chance })),
    onLink(anyLink, fc.record({ lose: chance, loseAnswer: chance })),
    onLink(member, fc.record({ duplicate: chance })),
    onLink(
      anyLink,
      fc.constantFrom<LinkConditions>({ delayMs: [1, 200] }, { delayMs: [500, 5000] }),
    ),
    fc.record({ fault: fc.constant("member-crash" as const), member, at: time, downFor }),
    fc
      .record({ member, kind: fc.constantFrom("pods-not-ready" as const, "crash" as const), span })
      .map(({ span: when, ...rest }) => ({ fault: "pods" as const, ...rest, ...when })),
    span.map((when) => ({ fault: "disk-full" as const, ...when })),
    fc.record({ fault: fc.constant("disk-fail" as const), at: time, downFor }),
    fc.record({
      fault: fc.constant("clock-skew" as const),
      at: time,
      skewMs: fc.constantFrom(-600_000, -30_000, 30_000, 600_000),
    }),
  ];
}
