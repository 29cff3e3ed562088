import { addMs, formatTime } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { troubleOf } from "../fault.ts";
import type { Claim, DaemonSet, LoadBalanced, Pod } from "../kinds.ts";
import { decideClaim } from "./claim.ts";
import { decideDaemonSet } from "./daemon-set.ts";
import { meta, node, NOW, pod, podTemplate } from "./objects.suite.ts";
import { childName, freeNames, portionOf, templateHash } from "./pods.ts";
import { decideService } from "./service.ts";
import { saysNew, withCondition } from "./status.ts";

describe("a status", () => {
  it.each<[string, unknown, unknown, boolean]>([
    ["zero and absent", { replicas: 0 }, {}, false],
    ["empty and absent", { conditions: [], a: { b: "" } }, undefined, false],
    ["the order of fields", { a: 1, b: 2 }, { b: 2, a: 1 }, false],
    ["a number", { a: 1 }, { a: 2 }, true],
    ["a number that goes", { a: 1 }, {}, true],
  ])("says new or not: %s", (_name, old, next, want) => {
    expect(saysNew(old, next)).toBe(want);
  });

  it("keeps the time of a condition while its status stays", () => {
    const first = withCondition(undefined, { type: "A", status: "True" }, NOW);
    const same = withCondition(first, { type: "A", status: "True", reason: "R" }, addMs(NOW, 5000));
    expect(same[0]).toMatchObject({ reason: "R", lastTransitionTime: formatTime(NOW) });
    const other = withCondition(same, { type: "A", status: "False" }, addMs(NOW, 5000));
    expect(other[0]?.lastTransitionTime).toBe(formatTime(addMs(NOW, 5000)));
  });
});

describe("names", () => {
  it("are the same for the same slot, skip what is taken, and fit a host name", () => {
    const owner = pod("x".repeat(80), "ready");
    const [first, second, third] = freeNames(owner, new Set(), 3);
    expect(freeNames(owner, new Set([first ?? ""]), 2)).toEqual([second, third]);
    expect(first?.length).toBe(63);
    expect(childName("a", "seed")).toBe(childName("a", "seed"));
  });

  it("of templates depend on what they say, not on the order in which they say it", () => {
    const { metadata, spec } = podTemplate();
    expect(templateHash({ spec, metadata: metadata ?? {} })).toBe(templateHash(podTemplate()));
    expect(templateHash(podTemplate("other"))).not.toBe(templateHash(podTemplate()));
  });

  it.each([
    [3, 10, Math.ceil, 3],
    ["25%", 10, Math.ceil, 3],
    ["25%", 10, Math.floor, 2],
    ["nonsense", 10, Math.ceil, 0],
  ] as const)("portion %s of %i", (value, total, round, want) => {
    expect(portionOf(value, total, round)).toBe(want);
  });
});

describe("a DaemonSet", () => {
  const daemons = (spec: Partial<DaemonSet["spec"]> = {}): DaemonSet => ({
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: meta("agent"),
    spec: { template: podTemplate(), ...spec },
  });
  const nodes = ["a", "b", "c"].map((name) => node(name, {}));
  const current = { "controller-revision-hash": templateHash(podTemplate()) };
  const on = (name: string, labels: Readonly<Record<string, string>> = current): Pod => {
    const made = pod(`on-${name}`, "ready", { labels });
    return { ...made, spec: { ...made.spec, nodeName: name } };
  };

  it("makes pods where there are none and removes them where they do not belong", () => {
    const plan = decideDaemonSet(daemons(), [on("a"), on("gone")], nodes, NOW);
    expect(plan.create.map(({ spec }) => spec.nodeName)).toEqual(["b", "c"]);
    expect(plan.remove.map(({ metadata }) => metadata.name)).toEqual(["on-gone"]);
    expect(plan.status).toMatchObject({
      desiredNumberScheduled: 3,
      currentNumberScheduled: 1,
      numberMisscheduled: 1,
      numberUnavailable: 2,
    });
  });

  it("replaces one pod at a time when its template changes", () => {
    const old = nodes.map(({ metadata }) => on(metadata.name, {}));
    expect(decideDaemonSet(daemons(), old, nodes, NOW).remove).toHaveLength(1);
    const one = [on("a"), ...old.slice(1)];
    expect(decideDaemonSet(daemons(), one.slice(1), nodes, NOW).remove).toHaveLength(0);
    expect(
      decideDaemonSet(daemons({ updateStrategy: { type: "OnDelete" } }), old, nodes, NOW).remove,
    ).toEqual([]);
  });
});

describe("a Service", () => {
  const service = (type: string, ip?: string): LoadBalanced => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: meta("s"),
    spec: { type },
    status: { loadBalancer: ip === undefined ? {} : { ingress: [{ ip }] } },
  });
  const ipOf = (subject: LoadBalanced, taken: readonly string[] = []) =>
    decideService(subject, new Set(taken), "198.18").loadBalancer?.ingress?.[0]?.ip;

  it("gets an address that nobody has, keeps it, and gives it back", () => {
    const first = ipOf(service("LoadBalancer")) ?? "";
    expect(first).toMatch(/^198\.18\.\d+\.\d+$/);
    expect(ipOf(service("LoadBalancer"), [first])).not.toBe(first);
    expect(ipOf(service("LoadBalancer", "198.18.3.4"))).toBe("198.18.3.4");
    // The member got other addresses: one that nothing listens on is of no use.
    expect(ipOf(service("LoadBalancer", "127.101.3.4"))).toMatch(/^198\.18\./);
    expect(ipOf(service("ClusterIP", "1.2.3.4"))).toBeUndefined();
    const none = decideService(service("LoadBalancer"), new Set(), "");
    expect(none.loadBalancer).toEqual({});
  });
});

it("a claim gets a volume, then the size it asked for", () => {
  const claim: Claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: meta("c"),
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  expect(decideClaim(claim)).toEqual({ kind: "bind", volumeName: "pvc-uid-c" });
  expect(decideClaim({ ...claim, spec: { ...claim.spec, volumeName: "v" } })).toEqual({
    kind: "report",
    status: { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } },
  });
});

it.each([
  [{}, true],
  [{ namespace: "default" }, true],
  [{ namespace: "other" }, false],
  [{ labels: { app: "a" } }, true],
  [{ labels: { app: "b" } }, false],
])("a fault of scope %j hits or not", (scope, want) => {
  const subject = pod("p", "ready", { labels: { app: "a" } });
  expect(troubleOf({ kind: "crash", ...scope }, subject).kind).toBe(want ? "crash" : "none");
});
