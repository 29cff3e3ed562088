import { describe, expect, it } from "vitest";
import type { Fields } from "../../fields.ts";
import { decideApply, versionOf } from "./apply.ts";

const marks = {
  "work.karmada.io/namespace": "karmada-es-eu-1",
  "work.karmada.io/name": "nginx-687f7fb96f",
  "work.karmada.io/conflict-resolution": "abort",
  "resourcetemplate.karmada.io/managed-labels": "app,karmada.io/managed",
  "resourcetemplate.karmada.io/managed-annotations": "note",
};
const labels = { app: "nginx", "karmada.io/managed": "true" };
const desired: Fields = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "default", name: "nginx", labels, annotations: { ...marks, note: "1" } },
  spec: { replicas: 2 },
};
const server = { uid: "u-1", resourceVersion: "5", generation: 1, creationTimestamp: "t" };
const inMember = (metadata: object = {}, parts: object = {}): Fields => ({
  ...desired,
  metadata: { ...(desired["metadata"] as object), ...server, ...metadata },
  status: { replicas: 2 },
  ...parts,
});
const decide = (observed?: Fields, changes: Partial<Parameters<typeof decideApply>[0]> = {}) =>
  decideApply({ cluster: "eu-1", desired, observed, ...changes });
const record = (answer: Fields) => ({ desired, version: versionOf(answer), answer });
const overwrite: Fields = {
  ...desired,
  metadata: {
    ...(desired["metadata"] as object),
    annotations: { ...marks, note: "1", "work.karmada.io/conflict-resolution": "overwrite" },
  },
};

describe("decideApply", () => {
  it("creates what is not there, with an Event when it had been", () => {
    const created = decide();
    expect(created).toMatchObject({
      reason: "Created",
      commands: [{ kind: "create", object: desired }],
    });
    expect(created.problem).toBeUndefined();
    expect(decide(undefined, { applied: record(inMember()) })).toMatchObject({
      reason: "Recreated",
      commands: [{ kind: "create" }],
    });
  });

  it("leaves alone what is as it should be", () => {
    expect(decide(inMember())).toMatchObject({ reason: "UpToDate", commands: [] });
    const busy = inMember({ resourceVersion: "9" }, { status: { replicas: 1 } });
    expect(decide(busy)).toMatchObject({ reason: "UpToDate", commands: [] });
  });

  it.each([
    ["a field", inMember({}, { spec: { replicas: 3 } })],
    ["a field that was added", inMember({}, { spec: { replicas: 2, paused: true } })],
    ["a label", inMember({ labels: { ...labels, app: "other" } })],
    ["an annotation that was taken away", inMember({ annotations: marks })],
  ])("corrects the drift of %s, on the version it saw", (_what, observed) => {
    expect(decide(observed)).toMatchObject({
      reason: "Updated",
      commands: [
        {
          kind: "update",
          object: {
            metadata: { uid: "u-1", resourceVersion: "5", labels, annotations: { note: "1" } },
            spec: { replicas: 2 },
            status: { replicas: 2 },
          },
        },
      ],
    });
  });

  it("keeps what others put on the object and takes away what is no longer ours", () => {
    const observed = inMember({
      finalizers: ["theirs"],
      ownerReferences: [{ uid: "o" }],
      labels: { ...labels, theirs: "1" },
      annotations: {
        ...marks,
        note: "1",
        old: "x",
        theirs: "2",
        "resourcetemplate.karmada.io/managed-annotations": "note,old",
      },
    });
    const plan = decide(observed);
    expect(plan.reason).toBe("Updated");
    expect(plan.commands[0]?.object["metadata"]).toEqual({
      namespace: "default",
      name: "nginx",
      ...server,
      finalizers: ["theirs"],
      ownerReferences: [{ uid: "o" }],
      labels: { ...labels, theirs: "1" },
      annotations: { ...marks, note: "1", theirs: "2" },
    });
  });

  it("does not write twice for what a member fills in", () => {
    const filled = inMember({}, { spec: { replicas: 2, filledIn: 1 } });
    expect(decide(filled).reason).toBe("Updated");
    const applied = record(filled);
    expect(decide(filled, { applied }).reason).toBe("UpToDate");
    const rewritten = inMember({ annotations: { ...marks, note: "rewritten by the member" } });
    expect(decide(rewritten).reason).toBe("Updated");
    expect(decide(rewritten, { applied: record(rewritten) }).reason).toBe("UpToDate");
    const edited = inMember({ generation: 2 }, { spec: { replicas: 2, filledIn: 2 } });
    expect(decide(edited, { applied }).reason).toBe("Updated");
    const changed = { ...desired, spec: { replicas: 3 } };
    expect(decide(filled, { applied, desired: changed }).reason).toBe("Updated");
    const unlabelled = inMember({ labels: { "karmada.io/managed": "true" } });
    expect(decide(unlabelled, { applied }).reason).toBe("Updated");
    const annotations = { ...marks, note: "1", "deployment.kubernetes.io/revision": "1" };
    const counted = inMember({ annotations }, { spec: { replicas: 2, filledIn: 1 } });
    expect(decide(counted, { applied }).reason).toBe("UpToDate");
  });

  it("knows what it wrote before a restart by the version alone, and corrects what moved since", () => {
    const filled = inMember({}, { spec: { replicas: 2, filledIn: 1 } });
    const applied = { desired, version: versionOf(filled) };
    expect(decide(filled, { applied }).reason).toBe("UpToDate");
    const edited = inMember({ generation: 2 }, { spec: { replicas: 2, filledIn: 2 } });
    expect(decide(edited, { applied }).reason).toBe("Updated");
    const restored = inMember({ uid: "u-2" }, { spec: { replicas: 2, filledIn: 1 } });
    expect(decide(restored, { applied }).reason).toBe("Updated");
    const unlabelled = inMember({ labels: { "karmada.io/managed": "true" } });
    expect(decide(unlabelled, { applied }).reason).toBe("Updated");
  });

  it.each([
    ["without our label", { labels: { app: "nginx" } }],
    ["of another Work", { annotations: { ...marks, "work.karmada.io/namespace": "karmada-es-x" } }],
  ])("refuses an object %s, and takes it over with `overwrite`", (_what, metadata) => {
    expect(decide(inMember(metadata))).toEqual({
      commands: [],
      events: [],
      reason: "ForeignObject",
      conditions: [],
      problem:
        "resource(kind=Deployment, default/nginx) already exists in the cluster eu-1 and the " +
        "work.karmada.io/conflict-resolution strategy value is abort, so it will not be managed",
    });
    expect(decide(inMember(metadata), { desired: overwrite })).toMatchObject({
      reason: "TakenOver",
      commands: [{ kind: "update", object: { metadata: { labels, resourceVersion: "5" } } }],
    });
  });

  it("replaces a headless Service of another writer only where the Service of a federated pod takes its name", () => {
    const theirs = (clusterIP: string): Fields => ({
      ...service({}),
      metadata: { ...(desired["metadata"] as object), ...server, labels: {} },
      spec: { clusterIP },
    });
    function service(selector: object): Fields {
      const { metadata } = overwrite;
      return { apiVersion: "v1", kind: "Service", metadata, spec: { type: "ClusterIP", selector } };
    }
    const ofPod = service({ "federated-statefulset": "store-c1-0" });
    expect(decide(theirs("None"), { desired: ofPod })).toMatchObject({
      reason: "TakenOver",
      commands: [{ kind: "replace", uid: "u-1", object: ofPod }],
    });
    for (const [observed, wanted] of [
      [theirs("10.0.0.1"), ofPod],
      [theirs("None"), service({ app: "x" })],
    ] as const)
      expect(decide(observed, { desired: wanted }).commands).toMatchObject([{ kind: "update" }]);
  });

  it("waits for what is being deleted", () => {
    const dying = inMember({ deletionTimestamp: "t" });
    expect(decide(dying)).toMatchObject({
      reason: "BeingDeleted",
      commands: [],
      problem: "resource(kind=Deployment, default/nginx) is being deleted in eu-1",
    });
  });

  it("keeps what the kind leaves to the member", () => {
    const service = { apiVersion: "v1", kind: "Service", metadata: desired["metadata"], spec: {} };
    const observed = {
      ...service,
      metadata: inMember()["metadata"],
      spec: { clusterIP: "1.1.1.1" },
    };
    expect(decide(observed, { desired: service }).reason).toBe("UpToDate");
  });

  it("writes no integer that may have been rounded, neither of a template nor of the member", () => {
    const read = JSON.parse('{"id":9007199254740993}') as object;
    const template = { ...desired, spec: { list: [read] } };
    expect(decide(undefined, { desired: template })).toMatchObject({
      reason: "InexactInteger",
      commands: [],
      problem:
        "resource(kind=Deployment, default/nginx): the integer at spec.list[0].id is beyond \u00b1(2^53 - 1) and would be changed by writing it",
    });
    // What the member counts in its status is not ours to write.
    const counted = { ...inMember(), spec: { other: 1 }, status: read };
    expect(decide(counted)).toMatchObject({ reason: "Updated" });
  });

  it("refuses a manifest without a name", () => {
    expect(decide(undefined, { desired: {} })).toMatchObject({ reason: "ManifestInvalid" });
  });
});

it("distinguishes versions by the generation, or by the resourceVersion where there is none", () => {
  const metadata = { uid: "u", resourceVersion: "9" };
  expect(versionOf({ metadata: { ...metadata, generation: 3 } })).toBe("u/gen:3");
  expect(versionOf({ metadata })).toBe("u/rv:9");
});
