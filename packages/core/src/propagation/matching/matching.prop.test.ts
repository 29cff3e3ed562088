/** What holds for every template and every set of policies. */
import type { AnyObject, ResourceBinding } from "@lifeboat/api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { precision } from "../selectors/resource-selector.ts";
import { bindingFor, newBinding, releasedBinding } from "./binding-for.ts";
import { changeOfClaim, claimIdsOf, claimOf, isClaimOf, withTexts } from "./claim.ts";
import { decideBinding } from "./decide-binding.ts";
import { decideClaim } from "./decide-claim.ts";
import { digestOf } from "./digest.ts";
import { claimKeys, DEPLOYMENT, policyOf, templateOf, wideClaimKeys } from "./matching.suite.ts";
import { isActive, type Policy, selection } from "./policy.ts";

const RUNS = { numRuns: 200 };

const selector = fc.oneof(
  fc.constant({ ...DEPLOYMENT, name: "web" }),
  fc.constant({ ...DEPLOYMENT }),
  fc.constant({ ...DEPLOYMENT, labelSelector: { matchLabels: { app: "web" } } }),
  fc.constant({ ...DEPLOYMENT, name: "other" }),
  fc.constant({ apiVersion: "v1", kind: "ConfigMap" }),
);

const policy = fc
  .record({
    name: fc.constantFrom("a", "b", "c", "d", "e"),
    wide: fc.boolean(),
    deleting: fc.boolean(),
    version: fc.constantFrom("9", "40", "60", "1000"),
    priority: fc.integer({ min: -2, max: 2 }),
    preempts: fc.boolean(),
    isLazy: fc.boolean(),
    selectors: fc.array(selector, { minLength: 1, maxLength: 3 }),
  })
  .map(({ name, wide, deleting, version, priority, preempts, isLazy, selectors }) =>
    policyOf(
      name,
      {
        priority,
        // As admission has it: a policy that preempts names its resources.
        resourceSelectors: preempts ? [{ ...DEPLOYMENT, name: "web" }] : selectors,
        preemption: preempts ? "Always" : "Never",
        ...(isLazy ? { activationPreference: "Lazy" as const } : {}),
      },
      { wide, deleting, version },
    ),
  );

const policies = fc.uniqueArray(policy, {
  maxLength: 6,
  selector: ({ kind, metadata }) => `${kind} ${metadata.name}`,
});

const template = fc
  .tuple(
    fc.constantFrom<Partial<ReturnType<typeof claimKeys>>>(
      {},
      claimKeys("a"),
      claimKeys("b", "former"),
      wideClaimKeys("a"),
      wideClaimKeys("gone"),
      { labels: claimKeys("c").labels },
    ),
    fc.constantFrom("50", "70"),
  )
  .map(([keys, version]) => templateOf(keys, version));

/** A template with a change of its claim carried out, as the server would. */
function claimed(object: AnyObject, by: Policy | undefined, waitsSince?: string): AnyObject {
  const change = changeOfClaim(object, by, waitsSince);
  if (change === undefined) return object;
  const { labels = {}, annotations = {}, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: {
      ...metadata,
      resourceVersion: "2000",
      labels: withTexts(labels, change.labels),
      annotations: withTexts(annotations, change.annotations),
    },
  };
}

function storedBinding(made: ReturnType<typeof newBinding>): ResourceBinding {
  const server = { name: "web-deployment", uid: "u", resourceVersion: "1", creationTimestamp: "" };
  return { ...made, metadata: { ...made.metadata, ...server } } as ResourceBinding;
}

describe("claims", () => {
  it("do not depend on the order in which policies are found", () => {
    fc.assert(
      fc.property(template, policies, (object, all) => {
        const view = { template: object, ignored: false };
        expect(decideClaim({ ...view, policies: all.toReversed() })).toEqual(
          decideClaim({ ...view, policies: all }),
        );
      }),
      RUNS,
    );
  });

  it("go to an active policy that selects the template, if there is one", () => {
    fc.assert(
      fc.property(template, policies, (object, all) => {
        const fits = (it: Policy): boolean =>
          isActive(it) && selection(it, object) > precision.none;
        const decision = decideClaim({ template: object, ignored: false, policies: all });
        if (decision.policy === undefined) expect(all.some(fits)).toBe(false);
        else expect(fits(decision.policy)).toBe(true);
      }),
      RUNS,
    );
  });

  it("settle in one step: a claim that was carried out is kept", () => {
    fc.assert(
      fc.property(template, policies, (object, all) => {
        const first = decideClaim({ template: object, ignored: false, policies: all });
        const after = claimed(object, first.policy);
        const second = decideClaim({ template: after, ignored: false, policies: all });
        expect(second.policy).toBe(first.policy);
        expect(second.reason).toBe(first.policy === undefined ? "NoPolicyMatches" : "ClaimKept");
        expect(changeOfClaim(after, second.policy, undefined)).toBeUndefined();
        if (first.policy === undefined) expect(claimIdsOf(after)).toEqual([]);
        else expect(isClaimOf(claimOf(after), first.policy)).toBe(true);
        expect(digestOf(after)).toBe(digestOf(object));
      }),
      RUNS,
    );
  });
});

describe("bindings", () => {
  it("settle in one step, for eager and lazy policies alike", () => {
    fc.assert(
      fc.property(
        template,
        policies,
        fc.option(policy),
        fc.boolean(),
        (object, all, maker, isStale) => {
          const earlier = isStale ? { ...object, spec: { replicas: 9 } } : object;
          const replicas = { replicas: 2 };
          const parts = { template: earlier, digest: digestOf(earlier), replicas };
          const existing =
            maker === null ? undefined : storedBinding(newBinding({ ...parts, policy: maker }));
          const { policy: owner } = decideClaim({
            template: object,
            ignored: false,
            policies: all,
          });
          const digest = digestOf(object);
          const claimer = all.find((it) => isClaimOf(claimOf(existing), it));
          const view = { digest, replicas, policy: owner, claimer, missingOverrides: [] };
          const first = decideBinding({ ...view, template: object, existing });
          const after = claimed(object, owner, first.waits ? digest : undefined);
          const made = first.command?.binding ?? existing;
          const binding = made === undefined ? undefined : storedBinding(made);
          const second = decideBinding({
            ...view,
            template: after,
            existing: binding,
            claimer: all.find((it) => isClaimOf(claimOf(binding), it)),
          });
          expect(second.command).toBeUndefined();
          expect(second.waits).toBe(first.waits);
          expect(changeOfClaim(after, owner, second.waits ? digest : undefined)).toBeUndefined();
        },
      ),
      RUNS,
    );
  });

  it("made right stay the same object, and released ones too", () => {
    fc.assert(
      fc.property(policy, policy, fc.nat(5), (before, now, count) => {
        const object = templateOf();
        const parts = { template: object, digest: digestOf(object), replicas: { replicas: count } };
        const existing = storedBinding(newBinding({ ...parts, policy: before }));
        const made = bindingFor({ ...parts, policy: now }, existing);
        expect(bindingFor({ ...parts, policy: now }, made)).toBe(made);
        const released = releasedBinding(made);
        expect(releasedBinding(released)).toBe(released);
        expect(claimIdsOf(released)).toEqual([]);
      }),
      RUNS,
    );
  });
});

describe("digests", () => {
  const content = fc.dictionary(
    fc.string().filter((key) => key !== "status" && key !== "metadata"),
    fc.jsonValue(),
  );

  it("ignore the order of keys, the status and the server's bookkeeping", () => {
    fc.assert(
      fc.property(content, fc.jsonValue(), (fields, status) => {
        const backwards = Object.fromEntries(Object.entries(fields).toReversed());
        const metadata = { labels: { a: "b", c: "d" }, resourceVersion: "1", generation: 1 };
        const moved = { generation: 2, resourceVersion: "2", labels: { c: "d", a: "b" } };
        expect(digestOf({ ...fields, metadata })).toBe(
          digestOf({ ...backwards, metadata: moved, status }),
        );
      }),
      RUNS,
    );
  });

  it("distinguish contents", () => {
    fc.assert(
      fc.property(content, content, (a, b) => {
        const same = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
        expect(digestOf(a) === digestOf(b)).toBe(same);
      }),
      RUNS,
    );
  });

  it.each([
    [{ a: "1" }, { a: 1 }],
    [{ a: ["b", "c"] }, { a: ["bc"] }],
    [{ a: ["c", "b"] }, { a: ["b", "c"] }],
    [{ a: [[], "x"] }, { a: [["x"]] }],
    [{ a: {} }, { a: [] }],
    [{ a: null }, { a: "null" }],
    [{ a: true }, { a: "true" }],
    [{ ab: "" }, { a: "b" }],
    [{ a: [1, 2] }, { a: [12] }],
    [{ metadata: { labels: { a: "b" } } }, { metadata: { annotations: { a: "b" } } }],
  ])("distinguish %j from %j", (a, b) => {
    expect(digestOf(a)).not.toBe(digestOf(b));
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}
