import type { ResourceBinding } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { bindingFor, newBinding, sameClaimedParts } from "./binding-for.ts";
import { type BindingView, decideBinding } from "./decide-binding.ts";
import { digestOf } from "./digest.ts";
import { claimKeys, policyOf, templateOf } from "./matching.suite.ts";
import type { Policy } from "./policy.ts";

const template = templateOf();
const digest = digestOf(template);
const replicas = { replicas: 2, requirements: { resourceRequest: { cpu: "1" } } };
const lazy = { activationPreference: "Lazy" } as const;

/** The binding that a policy made of a template, as it was stored. */
function stored(policy: Policy, change: Partial<ResourceBinding["spec"]> = {}): ResourceBinding {
  const made = newBinding({ template, digest, policy, replicas });
  return {
    ...made,
    metadata: {
      ...made.metadata,
      name: "web-deployment",
      uid: "uid-binding",
      resourceVersion: "70",
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: { ...made.spec, ...change },
  } as ResourceBinding;
}

function decide(view: Partial<BindingView>) {
  return decideBinding({ template, digest, replicas, missingOverrides: [], ...view });
}

const p = policyOf("p");

describe("a template's binding", () => {
  it("is made with all that the policy sets", () => {
    const policy = policyOf("p", {
      placement: { clusterAffinity: { clusterNames: ["m1"] } },
      propagateDeps: true,
      preserveResourcesOnDeletion: false,
      suspension: { dispatchingOnClusters: { clusterNames: ["m2"] } },
      conflictResolution: "Overwrite",
    });
    const { reason, command, events } = decide({ policy });
    expect(reason).toBe("BindingCreated");
    expect(command?.binding).toEqual({
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ResourceBinding",
      metadata: {
        name: "web-deployment",
        namespace: "default",
        labels: claimKeys("p").labels,
        annotations: { ...claimKeys("p").annotations, "lifeboat.dev/template-digest": digest },
        finalizers: ["karmada.io/binding-controller"],
        ownerReferences: [
          {
            apiVersion: "apps/v1",
            kind: "Deployment",
            name: "web",
            uid: "uid-web",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        resource: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          namespace: "default",
          name: "web",
          uid: "uid-web",
          resourceVersion: "50",
        },
        replicas: 2,
        replicaRequirements: { resourceRequest: { cpu: "1" }, namespace: "default" },
        placement: { clusterAffinity: { clusterNames: ["m1"] } },
        propagateDeps: true,
        preserveResourcesOnDeletion: false,
        suspension: { dispatchingOnClusters: { clusterNames: ["m2"] } },
        conflictResolution: "Overwrite",
        schedulerName: "default-scheduler",
      },
    });
    expect(events.map(({ reason: said }) => said)).toEqual([
      "GetReplicasSucceed",
      "ApplyPolicySucceed",
    ]);
  });

  it("that is right is left alone, also when the template has a newer version of the same content", () => {
    expect(decide({ policy: p, existing: stored(p) })).toMatchObject({
      reason: "BindingKept",
      events: [],
    });
    const newer = { ...templateOf({}, "99"), status: { replicas: 2 } };
    expect(decide({ policy: p, template: newer, existing: stored(p) }).command).toBeUndefined();
  });

  it("loses what the policy no longer sets", () => {
    const before = stored(
      policyOf("p", { propagateDeps: true, placement: {}, suspension: { dispatching: true } }),
    );
    const { command } = decide({ policy: p, existing: before });
    expect(command?.kind).toBe("updateBinding");
    expect(command?.binding.spec).not.toHaveProperty("propagateDeps");
    expect(command?.binding.spec).not.toHaveProperty("placement");
    expect(command?.binding.spec).not.toHaveProperty("suspension");
  });

  it("without an owner is adopted", () => {
    const orphan = stored(p);
    const { ownerReferences: _, ...metadata } = orphan.metadata;
    expect(decide({ policy: p, existing: { ...orphan, metadata } }).reason).toBe("BindingChanged");
  });

  it.each<[string, Partial<BindingView>, string, boolean]>([
    [
      "of a former object of that name is waited for",
      {
        policy: p,
        template: { ...template, metadata: { ...template.metadata, uid: "other" } },
        existing: stored(p),
      },
      "AwaitsOldBinding",
      true,
    ],
    [
      "that is being deleted is waited for",
      {
        policy: p,
        existing: {
          ...stored(p),
          metadata: { ...stored(p).metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
        },
      },
      "AwaitsOldBinding",
      true,
    ],
    [
      "of another group is not touched",
      {
        policy: p,
        existing: stored(p, {
          resource: {
            apiVersion: "ex.io/v1",
            kind: "Deployment",
            namespace: "default",
            name: "web",
          },
        }),
      },
      "BindingNameTaken",
      true,
    ],
    [
      "of another group is not released either",
      {
        existing: stored(p, {
          resource: {
            apiVersion: "ex.io/v1",
            kind: "Deployment",
            namespace: "default",
            name: "web",
          },
        }),
      },
      "BindingKept",
      false,
    ],
    [
      "without a policy and without a claim is left",
      {
        existing: {
          ...stored(p),
          metadata: { ...stored(p).metadata, labels: {}, annotations: {} },
        },
      },
      "BindingKept",
      false,
    ],
    [
      "is not made before the override policies exist",
      { policy: p, missingOverrides: ["o"] },
      "AwaitsOverrides",
      false,
    ],
    ["does not exist and no policy wants it", {}, "BindingKept", false],
  ])("%s", (_case, view, reason, isBlocked) => {
    const decision = decide(view);
    expect(decision).toMatchObject({ reason, isBlocked });
    expect(decision.command).toBeUndefined();
  });

  it("follows its object to another version of its group", () => {
    const existing = stored(p, {
      resource: {
        apiVersion: "apps/v1beta1",
        kind: "Deployment",
        namespace: "default",
        name: "web",
        uid: "uid-web",
      },
    });
    const { reason, command } = decide({ policy: p, existing });
    expect(reason).toBe("BindingChanged");
    expect(command?.binding.spec.resource.apiVersion).toBe("apps/v1");
  });

  it("without a policy loses the claim and nothing else", () => {
    const existing = stored(p, { clusters: [{ name: "m1", replicas: 2 }] });
    const { reason, command } = decide({ existing });
    expect(reason).toBe("BindingReleased");
    expect(command?.binding.spec).toBe(existing.spec);
    expect(command?.binding.metadata.labels).toEqual({});
    expect(command?.binding.metadata.annotations).toEqual({
      "lifeboat.dev/template-digest": digest,
    });
  });
});

describe("a lazy policy", () => {
  const l = policyOf("l", lazy);
  const changed = { ...template, spec: { replicas: 3 } };
  const waiting = templateOf({
    ...claimKeys("l"),
    annotations: { ...claimKeys("l").annotations, "lifeboat.dev/lazy-since": digest },
  });
  const other = policyOf("other");

  it.each<[string, Partial<BindingView>, string, boolean]>([
    [
      "takes hold of a template that is newer than it",
      { template: templateOf({}, "101") },
      "BindingCreated",
      false,
    ],
    [
      "takes hold of one that is newer by one digit",
      { template: templateOf({}, "1000") },
      "BindingCreated",
      false,
    ],
    ["lets an older template wait", {}, "AwaitsTemplateChange", true],
    [
      "lets it go on waiting while it is the same",
      { template: waiting },
      "AwaitsTemplateChange",
      true,
    ],
    [
      "lets it go on waiting when another lazy policy takes it over",
      {
        template: { ...waiting, metadata: { ...waiting.metadata, resourceVersion: "500" } },
        policy: policyOf("m", lazy),
      },
      "AwaitsTemplateChange",
      true,
    ],
    [
      "takes hold once it has changed",
      { template: { ...waiting, spec: {} }, digest: digestOf({ ...waiting, spec: {} }) },
      "BindingCreated",
      false,
    ],
    [
      "goes on where a crash came between claim and binding",
      { template: templateOf(claimKeys("l")) },
      "BindingCreated",
      false,
    ],
    [
      "leaves a binding made of this very template",
      { existing: stored(other), claimer: other },
      "AwaitsTemplateChange",
      false,
    ],
    [
      "takes over one made of an earlier state",
      { template: changed, digest: digestOf(changed), existing: stored(other), claimer: other },
      "BindingChanged",
      false,
    ],
    ["releases one whose policy is gone", { existing: stored(other) }, "BindingReleased", false],
    [
      "releases one whose policy is being deleted",
      { existing: stored(other), claimer: policyOf("other", {}, { deleting: true }) },
      "BindingReleased",
      false,
    ],
    [
      "releases one whose policy was created again",
      { existing: stored(other), claimer: policyOf("other", {}, { id: "new" }) },
      "BindingReleased",
      false,
    ],
    [
      "releases one whose policy selects something else",
      { existing: stored(other), claimer: policyOf("other", { resourceSelectors: [] }) },
      "BindingReleased",
      false,
    ],
  ])("%s", (_case, view, reason, waits) => {
    expect(decide({ policy: l, ...view })).toMatchObject({ reason, waits });
  });
});

describe("the parts that others own", () => {
  const others: Partial<ResourceBinding["spec"]> = {
    clusters: [{ name: "m1", replicas: 2 }],
    gracefulEvictionTasks: [{ fromCluster: "m2", reason: "X", producer: "me" }],
    requiredBy: [{ namespace: "default", name: "x" }],
    rescheduleTriggeredAt: "2026-01-01T00:00:00Z",
    components: [{ name: "c", replicas: 1 }],
    suspension: { scheduling: true },
  };

  it("are carried over", () => {
    const changed = { ...template, spec: { replicas: 3 } };
    const made = bindingFor(
      { template: changed, digest: digestOf(changed), policy: p, replicas: { replicas: 3 } },
      stored(p, others),
    );
    expect(made.spec).toMatchObject(others);
    expect(made.spec.replicas).toBe(3);
  });

  it("do not make two states differ for the detector, and its own do", () => {
    const { suspension: _, ...theirs } = others;
    expect(sameClaimedParts(stored(p), stored(p, theirs))).toBe(true);
    const scheduled = stored(p);
    const annotations = {
      ...scheduled.metadata.annotations,
      "policy.karmada.io/applied-placement": "{}",
    };
    const metadata = { ...scheduled.metadata, annotations, resourceVersion: "71" };
    expect(sameClaimedParts(stored(p), { ...scheduled, metadata })).toBe(true);
    expect(sameClaimedParts(stored(p), stored(p, { replicas: 9 }))).toBe(false);
    expect(sameClaimedParts(stored(p), stored(policyOf("q")))).toBe(false);
  });
});
