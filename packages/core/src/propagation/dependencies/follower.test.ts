import type { EvictionTask, New, ResourceBinding } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { bindingNamed, configMapObject, recording, workloadBinding } from "./binding.suite.ts";
import { decideFollower, type FollowerPlan } from "./follower.ts";

const NEEDING = { annotations: recording("c") };
const object = configMapObject("c");
const web = workloadBinding("web", {}, NEEDING);
const LABEL = "resourcebinding.karmada.io/depended-by-5bdc5c4dcf";

function written(plan: FollowerPlan): New<ResourceBinding> {
  const [command] = plan.commands;
  if (command === undefined) throw new Error(`nothing is written: ${plan.reason}`);
  return command.binding;
}

function attachedTo(...referrers: readonly ResourceBinding[]): ResourceBinding {
  const binding = written(decideFollower({ object, referrers }));
  return bindingNamed("c-configmap", binding);
}

function task(fromCluster: string, purgeMode?: EvictionTask["purgeMode"]): EvictionTask {
  return { fromCluster, ...(purgeMode && { purgeMode }), reason: "Test", producer: "test" };
}

describe("an object that a workload needs", () => {
  it("is bound as a policy would have bound it, and names the workload", () => {
    const nginx = workloadBinding("nginx", {}, NEEDING);
    const plan = decideFollower({ object, referrers: [nginx] });
    expect(plan).toMatchObject({ reason: "Attached", events: [], concerned: [nginx] });
    expect(written(plan)).toEqual({
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ResourceBinding",
      metadata: {
        namespace: "default",
        name: "c-configmap",
        labels: { [LABEL]: "id of nginx-deployment" },
        annotations: { "lifeboat.dev/follower-digest": expect.stringMatching(/^[0-9a-f]{16}$/) },
        finalizers: ["karmada.io/binding-controller"],
        ownerReferences: [
          {
            apiVersion: "v1",
            kind: "ConfigMap",
            name: "c",
            uid: "uid of c",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        resource: {
          apiVersion: "v1",
          kind: "ConfigMap",
          namespace: "default",
          name: "c",
          uid: "uid of c",
          resourceVersion: "7",
        },
        requiredBy: [
          {
            namespace: "default",
            name: "nginx-deployment",
            clusters: [{ name: "m1", replicas: 2 }],
          },
        ],
        conflictResolution: "Abort",
        preserveResourcesOnDeletion: false,
      },
    });
  });

  it.each<[string, Partial<ResourceBinding["spec"]>, readonly string[]]>([
    ["its schedule", { clusters: [{ name: "m2" }, { name: "m1" }] }, ["m2", "m1"]],
    [
      "clusters it leaves gracefully",
      { clusters: [{ name: "m2" }], gracefulEvictionTasks: [task("m1", "Gracefully")] },
      ["m2", "m1"],
    ],
    ["clusters it leaves in no mode", { gracefulEvictionTasks: [task("m3")] }, ["m1", "m3"]],
    ["clusters it never leaves", { gracefulEvictionTasks: [task("m3", "Never")] }, ["m1", "m3"]],
    ["not those it leaves directly", { gracefulEvictionTasks: [task("m3", "Directly")] }, ["m1"]],
    ["not those it left at once", { gracefulEvictionTasks: [task("m3", "Immediately")] }, ["m1"]],
    [
      "clusters it leaves, though others need it there",
      {
        clusters: [{ name: "m2" }],
        gracefulEvictionTasks: [task("m1")],
        requiredBy: [{ name: "x", clusters: [{ name: "m1" }] }],
      },
      ["m2", "m1"],
    ],
    ["a cluster once", { gracefulEvictionTasks: [task("m1", "Gracefully")] }, ["m1"]],
  ])("is where the workload is: %s", (_, spec, clusters) => {
    const referrers = [workloadBinding("web", spec, NEEDING)];
    const [entry] = written(decideFollower({ object, referrers })).spec.requiredBy ?? [];
    expect(entry?.clusters?.map(({ name }) => name)).toEqual(clusters);
  });

  it.each<[string, ResourceBinding]>([
    ["has no cluster", workloadBinding("web", { clusters: [] }, NEEDING)],
    ["needs another object", workloadBinding("web", {}, { annotations: recording("d") })],
    ["has no record", workloadBinding("web")],
    [
      "is being deleted",
      workloadBinding("web", {}, { ...NEEDING, deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ],
  ])("is not bound for a workload that %s", (_, referrer) => {
    expect(decideFollower({ object, referrers: [referrer] }).reason).toBe("NotNeeded");
  });

  it("does not follow itself", () => {
    const own = bindingNamed("c-configmap", { spec: web.spec, metadata: NEEDING });
    expect(decideFollower({ object, referrers: [own] }).reason).toBe("NotNeeded");
  });

  it("is not bound while it is being deleted", () => {
    const going = configMapObject("c", { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect(decideFollower({ object: going, referrers: [web] }).reason).toBe("BeingDeleted");
  });
});

describe("the binding of an object that workloads need", () => {
  const attached = attachedTo(web);

  it("is left alone when it is as it should be already", () => {
    const plan = decideFollower({ object, attached, referrers: [web, web] });
    expect(plan).toMatchObject({ reason: "UpToDate", commands: [], concerned: [] });
  });

  it("moves with the workload", () => {
    const moved = workloadBinding("web", { clusters: [{ name: "m9" }] }, NEEDING);
    const plan = decideFollower({ object, attached, referrers: [moved] });
    expect(plan).toMatchObject({ reason: "Followed", concerned: [moved] });
    expect(written(plan).spec.requiredBy).toMatchObject([{ clusters: [{ name: "m9" }] }]);
  });

  it("still names a workload that has nowhere to go, because its last copy may run on", () => {
    const nowhere = workloadBinding("web", { clusters: [] }, NEEDING);
    const plan = decideFollower({ object, attached, referrers: [nowhere] });
    expect(written(plan).spec.requiredBy).toMatchObject([{ name: "web-deployment", clusters: [] }]);
    const after = bindingNamed("c-configmap", written(plan));
    expect(decideFollower({ object, attached: after, referrers: [nowhere] }).reason).toBe(
      "UpToDate",
    );
    expect(decideFollower({ object, attached: after, referrers: [] }).reason).toBe("Released");
  });

  it("names the object's newest version, so that its content is carried on", () => {
    const newer = { ...configMapObject("c", { resourceVersion: "8" }), data: { a: "b" } };
    const plan = decideFollower({ object: newer, attached, referrers: [web] });
    expect(written(plan).spec.resource.resourceVersion).toBe("8");
    expect(plan.concerned).toEqual([]);
    const reported = { ...configMapObject("c", { resourceVersion: "9" }), status: { a: "b" } };
    expect(decideFollower({ object: reported, attached, referrers: [web] }).reason).toBe(
      "UpToDate",
    );
  });

  it("keeps its entry while the workload's record is missing or unreadable", () => {
    for (const annotations of [{}, { "resourcebinding.karmada.io/dependencies": "{" }]) {
      const stripped = workloadBinding("web", {}, { annotations });
      expect(decideFollower({ object, attached, referrers: [stripped] }).reason).toBe("UpToDate");
    }
  });

  it.each<[string, readonly ResourceBinding[]]>([
    ["is gone", []],
    ["no longer needs the object", [workloadBinding("web", {}, { annotations: recording() })]],
    ["does not take along what it needs", [workloadBinding("web", { propagateDeps: false })]],
  ])("drops the entry of a workload that %s", (_, referrers) => {
    const plan = decideFollower({ object, attached, referrers });
    expect(plan.reason).toBe("Released");
    const { metadata, spec } = written(plan);
    expect(spec).not.toHaveProperty("requiredBy");
    expect(Object.keys(metadata.labels ?? {}).filter((key) => key.includes("depended"))).toEqual(
      [],
    );
  });

  it("takes the strongest rule of several workloads, reports that they differ, and forgets both", () => {
    const strict = workloadBinding(
      "strict",
      { conflictResolution: "Overwrite", preserveResourcesOnDeletion: true },
      NEEDING,
    );
    const both = decideFollower({ object, attached, referrers: [web, strict] });
    expect(written(both).spec).toMatchObject({
      conflictResolution: "Overwrite",
      preserveResourcesOnDeletion: true,
      requiredBy: [{ name: "strict-deployment" }, { name: "web-deployment" }],
    });
    expect(both.concerned).toEqual([strict]);
    expect(both.events).toMatchObject([{ type: "Warning", reason: "DependencyPolicyConflict" }]);
    expect(both.events[0]?.message).toContain("ConflictResolution conflicted (Overwrite vs Abort)");
    expect(both.events[0]?.message).toContain(
      "PreserveResourcesOnDeletion conflicted (true vs false)",
    );
    const alone = decideFollower({
      object,
      attached: attachedTo(web, strict),
      referrers: [strict],
    });
    expect(alone.events).toEqual([]);
    const none = decideFollower({ object, attached: attachedTo(web, strict), referrers: [] });
    expect(written(none).spec).toMatchObject({ conflictResolution: "Abort" });
    expect(written(none).spec.preserveResourcesOnDeletion).toBe(false);
  });

  it("17.14: preserves nothing, in so many words, unless a workload does", () => {
    const made = decideFollower({ object, referrers: [web] });
    expect(written(made).spec).toMatchObject({
      conflictResolution: "Abort",
      preserveResourcesOnDeletion: false,
    });
  });

  it("leaves to a policy what a policy decides", () => {
    const claimed = bindingNamed("c-configmap", {
      spec: {
        ...attached.spec,
        requiredBy: [],
        conflictResolution: "Overwrite",
        placement: {},
        clusters: [{ name: "m5" }],
      },
      metadata: {
        ...attached.metadata,
        labels: { "propagationpolicy.karmada.io/permanent-id": "p" },
      },
    });
    const newer = { ...configMapObject("c", { resourceVersion: "8" }), data: { a: "b" } };
    const plan = decideFollower({ object: newer, attached: claimed, referrers: [web] });
    expect(written(plan).spec).toEqual({
      ...claimed.spec,
      requiredBy: attached.spec.requiredBy,
    });
    expect(written(plan).metadata.labels).toMatchObject({
      "propagationpolicy.karmada.io/permanent-id": "p",
    });
    const noMore = decideFollower({ object, attached: claimed, referrers: [] });
    expect(noMore.reason).toBe("NotNeeded");
  });

  it("has to go first when it belongs to an earlier object of the same name", () => {
    const again = configMapObject("c", { uid: "another" });
    expect(decideFollower({ object: again, attached, referrers: [web] }).reason).toBe(
      "OtherObject",
    );
  });

  it("is left alone while it is being deleted", () => {
    const metadata = { ...attached.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    const going = { ...attached, metadata };
    expect(decideFollower({ object, attached: going, referrers: [] }).reason).toBe("BeingDeleted");
  });
});
