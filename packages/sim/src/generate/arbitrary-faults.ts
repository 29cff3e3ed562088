/** What goes wrong at random. */
import fc from "fast-check";
import { lies } from "../network/lies.ts";
import type { LinkConditions } from "../network/link.ts";
import type { Fault } from "../scenario/scenario.ts";
import type { Size } from "./arbitrary-scenario.ts";
import { arbitraryWorkload, someOf, SPAN, time } from "./arbitrary-steps.ts";

const chance = fc.constantFrom(0.05, 0.2, 0.5);
const downFor = fc.integer({ min: 1, max: 60 });
/** The writes of a small scenario, more or less. */
const write = fc.integer({ min: 1, max: 120 });
const moment = fc.constantFrom("before" as const, "after" as const);
const skewMs = fc.constantFrom(-600_000, -30_000, 30_000, 600_000);

/** From when until when: a minute and a half at most. */
const span = fc
  .record({ from: time, lasts: fc.integer({ min: 1, max: 90 }) })
  .map(({ from, lasts }) => ({ from, until: from + lasts }));

/** Faults of some of the kinds there are. */
export function arbitraryFaults(size: Size): fc.Arbitrary<readonly Fault[]> {
  return someOf(arbitraryFaultKinds(size)).chain((chosen) =>
    fc.array(fc.oneof(...chosen), { maxLength: size.faults }),
  );
}

/** What goes wrong with agents. */
export function arbitraryAgentFaults({ members }: Size): fc.Arbitrary<readonly Fault[]> {
  const member = fc.constantFrom(...members);
  const lasts = fc.constantFrom(1, 20, 60, 120);
  const kinds: readonly fc.Arbitrary<Fault>[] = [
    fc.record({ fault: fc.constant("agent-crash" as const), member, at: time, downFor }),
    fc.record({ fault: fc.constant("agent-pause" as const), member, at: time, lasts }),
    fc.record({ fault: fc.constant("agent-clock" as const), member, at: time, stepMs: skewMs }),
    fc
      .record({ member, span })
      .map(({ span: when, ...rest }) => ({ fault: "agent-forges" as const, ...rest, ...when })),
    ...ofLinks(
      members.map((name) => `${name}/plane`),
      [],
    ),
  ];
  return someOf(kinds).chain((chosen) =>
    fc.array(fc.oneof(...chosen), { maxLength: AGENT_FAULTS }),
  );
}

const AGENT_FAULTS = 3;

function arbitraryFaultKinds(size: Size): readonly fc.Arbitrary<Fault>[] {
  return [...ofThePlane, ...ofLinks(size.members), ...ofMembers(size)];
}

const ofThePlane: readonly fc.Arbitrary<Fault>[] = [
  fc.record({ fault: fc.constant("crash" as const), at: time, downFor }),
  fc.record({ fault: fc.constant("crash-at-write" as const), write, moment, downFor }),
  fc.record({
    fault: fc.constant("crash-at-write" as const),
    write,
    moment,
    downFor,
    again: fc.record({ after: fc.integer({ min: 1, max: 10 }), moment }),
  }),
  fc.record({ fault: fc.constant("lost-answer-at-write" as const), write }),
  fc.record({
    fault: fc.constant("pause" as const),
    at: time,
    lasts: fc.constantFrom(0.1, 1, 5, 20, 60, 120),
  }),
  span.map((when) => ({ fault: "two-leaders", ...when })),
  fc.record({
    fault: fc.constant("upgrade" as const),
    at: time,
    downFor,
    data: fc.constantFrom("older" as const, "newer" as const),
  }),
  span.map((when) => ({ fault: "disk-full", ...when })),
  fc.record({ fault: fc.constant("disk-fail" as const), at: time, downFor }),
  fc.record({ fault: fc.constant("clock-skew" as const), at: time, skewMs }),
  fc.record({ fault: fc.constant("clock-step" as const), at: time, stepMs: skewMs }),
];

/** What goes wrong with links, between the plane and each of these. */
export function ofLinks(
  members: readonly string[],
  others: readonly string[] = ["plane"],
): readonly fc.Arbitrary<Fault>[] {
  const member = fc.constantFrom(...members);
  const anyLink = fc.constantFrom(...others, ...members);
  const onLink = (
    link: fc.Arbitrary<string>,
    conditions: fc.Arbitrary<LinkConditions>,
  ): fc.Arbitrary<Fault> =>
    fc
      .record({ link, conditions, span })
      .map(({ span: when, ...rest }) => ({ fault: "link", ...rest, ...when }));
  return [
    fc.record({ fault: fc.constant("reset" as const), link: anyLink, at: time }),
    onLink(member, fc.record({ partition: fc.constantFrom("both", "requests", "answers") })),
    onLink(member, fc.constant({ down: true })),
    onLink(anyLink, fc.record({ fail: chance })),
    onLink(member, fc.record({ refuse: fc.constantFrom("quota", "webhook", "forbidden", "full") })),
    onLink(anyLink, fc.record({ missEvents: chance })),
    onLink(anyLink, fc.record({ lose: chance, loseAnswer: chance })),
    onLink(member, fc.record({ duplicate: chance })),
    onLink(member, fc.record({ late: chance })),
    onLink(
      anyLink,
      fc.constantFrom<LinkConditions>({ delayMs: [1, 200] }, { delayMs: [500, 5000] }),
    ),
  ];
}

/** Around the times after which a cluster counts as failed or back. */
const period = fc.constantFrom(5, 9, 10, 11, 29, 30, 31);

function ofMembers(size: Size): readonly fc.Arbitrary<Fault>[] {
  const member = fc.constantFrom(...size.members);
  return [
    fc.record({ fault: fc.constant("member-crash" as const), member, at: time, downFor }),
    fc.record({ fault: fc.constant("member-gone" as const), member, at: time }),
    fc
      .record({ member, backupAt: time, age: fc.integer({ min: 1, max: SPAN }), downFor })
      .map(({ age, ...rest }) => ({
        fault: "member-restored" as const,
        ...rest,
        at: rest.backupAt + age,
      })),
    fc
      .record({ member, span, downFor: period, upFor: period })
      .map(({ span: when, ...rest }) => ({ fault: "flap" as const, ...rest, ...when })),
    fc
      .record({ members: someOf(size.members), span })
      .map(({ members, span: when }) => ({ fault: "mass-failure" as const, members, ...when })),
    ...(["foreign-object", "stuck-finalizer"] as const).map((fault) =>
      fc
        .record({ member, of: arbitraryWorkload(size), span })
        .map(({ of, span: when, ...rest }) => ({ fault, ...rest, ...of, ...when })),
    ),
    fc
      .record({ member, how: fc.constantFrom(...lies), span })
      .map(({ span: when, ...rest }) => ({ fault: "lies" as const, ...rest, ...when })),
    fc
      .record({ member, span })
      .map(({ span: when, ...rest }) => ({ fault: "unauthorized" as const, ...rest, ...when })),
    fc.record({
      fault: fc.constant("token-rotated" as const),
      member,
      at: time,
      oldEndsAfter: fc.constantFrom(-20, -3, 0, 3, 20),
    }),
    fc.record({ fault: fc.constant("member-clock" as const), member, at: time, stepMs: skewMs }),
    fc
      .record({
        member,
        kind: fc.constantFrom(
          "pods-not-ready" as const,
          "crash" as const,
          "start-late" as const,
          "stop-late" as const,
        ),
        span,
      })
      .map(({ span: when, ...rest }) => ({ fault: "pods" as const, ...rest, ...when })),
  ];
}
