/** When the traffic of a leaving copy counts as gone (D27). */
import { describe, expect, it } from "vitest";
import {
  bindingsBehind,
  formatApplied,
  type ProviderView,
  readApplied,
  trafficTo,
} from "./confirmation.ts";
import { ingressOf, pathTo, servedBy } from "./traffic.suite.ts";

const fresh = (applied: Readonly<Record<string, number>>): ProviderView => ({
  isFresh: true,
  applied,
});
const lapsed: ProviderView = { isFresh: false, applied: {} };
const ofClass = (ingressClass: string, applied = {}): ProviderView => ({
  ...fresh(applied),
  ingressClass,
});
const draining = servedBy({ a: {}, b: { state: "draining" } }, 5);
const serving = servedBy({ a: {}, b: {} }, 5);

describe("the traffic to cluster b", () => {
  const done = fresh({ "default/web": 5 });
  it.each<[string, Parameters<typeof servedBy>, readonly ProviderView[], string]>([
    [
      "drains, and all confirmed",
      [{ a: {}, b: { state: "draining" } }, 5],
      [done, done],
      "drained",
    ],
    [
      "drains, and one has not",
      [{ a: {}, b: { state: "draining" } }, 5],
      [done, fresh({})],
      "awaited",
    ],
    [
      "drains, and an older generation is confirmed",
      [{ a: {}, b: { state: "draining" } }, 6],
      [done],
      "awaited",
    ],
    [
      "drains, and a newer one is confirmed: the annotation was lost",
      [{ a: {}, b: { state: "draining" } }, 4],
      [done],
      "awaited",
    ],
    [
      "drains, and is confirmed for its Service",
      [{ a: {}, b: { state: "draining" } }, 5],
      [done, fresh({ "default/web/web": 5 })],
      "drained",
    ],
    [
      "drains, and another Service is confirmed",
      [{ a: {}, b: { state: "draining" } }, 5],
      [done, fresh({ "default/web/api": 5 })],
      "awaited",
    ],
    [
      "a lapsed Lease counts as not serving",
      [{ a: {}, b: { state: "draining" } }, 5],
      [done, lapsed],
      "drained",
    ],
    ["no Lease is fresh", [{ a: {}, b: { state: "draining" } }, 5], [lapsed], "unconfirmable"],
    ["none is ours", [{ a: {}, b: { state: "draining" } }, 5], [], "unconfirmable"],
    ["still serves", [{ a: {}, b: {} }, 5], [done], "awaited"],
    [
      "serves because another workload stays there",
      [{ a: {}, b: { keptBy: ["other-deployment"] } }, 5],
      [fresh({})],
      "none",
    ],
    [
      "serves because this very workload stays there",
      [{ a: {}, b: { keptBy: ["other-deployment", "web-deployment"] } }, 5],
      [fresh({})],
      "awaited",
    ],
    ["serves, and no other cluster does", [{ b: {} }, 5], [done], "needed"],
    [
      "serves, and the others have no address",
      [{ a: { addresses: [] }, b: {} }, 5],
      [done],
      "needed",
    ],
    [
      "drains with all others",
      [{ a: { state: "draining" }, b: { state: "draining" } }, 5],
      [fresh({})],
      "needed",
    ],
    ["is not there", [{ a: {} }, 5], [fresh({})], "none"],
    ["has no address", [{ a: {}, b: { addresses: [] } }, 5], [], "none"],
  ])("%s", (_name, published, providers, expected) => {
    const ingress = ingressOf([pathTo("web")], { published: servedBy(...published) });
    expect(trafficTo("web-deployment", "b", [ingress], providers)).toBe(expected);
  });

  it("cannot leave while all others are blocked", () => {
    const ingress = ingressOf([pathTo("web")], { published: draining, blocked: ["a"] });
    expect(trafficTo("web-deployment", "b", [ingress], [fresh({})])).toBe("needed");
  });

  it("is not needed where the ingress has no route to it", () => {
    const backend = { service: { name: "web", port: { number: 99 } } };
    const ingress = ingressOf([pathTo("web", "/", { backend })], {
      published: servedBy({ b: {} }),
    });
    expect(trafficTo("web-deployment", "b", [ingress], [fresh({})])).toBe("awaited");
  });

  it.each<[string, string | undefined, readonly ProviderView[], string]>([
    ["of our class", "ours", [ofClass("ours")], "awaited"],
    ["of our class, confirmed", "ours", [ofClass("ours", { "default/web": 5 })], "drained"],
    ["of any class", undefined, [ofClass("ours")], "awaited"],
    ["of a class that none of ours serves", "cloud", [ofClass("ours")], "unconfirmable"],
    ["of a class that one may serve", "cloud", [ofClass("ours"), fresh({})], "awaited"],
    [
      "of the class of one of two",
      "cloud",
      [ofClass("ours"), ofClass("cloud", { "default/web": 5 })],
      "drained",
    ],
  ])("through an ingress %s", (_name, ingressClassName, providers, expected) => {
    const ingress = ingressOf([pathTo("web")], {
      published: draining,
      spec: ingressClassName === undefined ? {} : { ingressClassName },
    });
    expect(trafficTo("web-deployment", "b", [ingress], providers)).toBe(expected);
  });

  it("of several ingresses the one counts that keeps the copy longest", () => {
    const cloud = ingressOf([pathTo("web")], {
      name: "cloud",
      published: draining,
      spec: { ingressClassName: "cloud" },
    });
    const ours = ingressOf([pathTo("web")], { published: draining });
    const last = ingressOf([pathTo("web")], { name: "last", published: servedBy({ b: {} }) });
    const state = (ingresses: Parameters<typeof trafficTo>[2], applied = {}) =>
      trafficTo("web-deployment", "b", ingresses, [ofClass("ours", applied)]);
    expect(state([cloud, ours], { "default/web": 5 })).toBe("unconfirmable");
    expect(state([ours, cloud])).toBe("awaited");
    expect(state([last, ours, cloud])).toBe("needed");
  });

  it("is awaited as long as one of two ingresses serves", () => {
    const one = ingressOf([pathTo("web")], { published: draining });
    const other = ingressOf([pathTo("web")], { name: "other", published: serving });
    const providers = [fresh({ "default/web": 5, "default/other": 5 })];
    expect(trafficTo("web-service", "b", [one, other], providers)).toBe("awaited");
    expect(trafficTo("else-deployment", "b", [one, other], providers)).toBe("none");
  });
});

it("an ingress concerns the bindings of its Services and their workloads", () => {
  expect(bindingsBehind(ingressOf([pathTo("web")], { published: draining }))).toEqual([
    "default/web-deployment",
    "default/web-service",
  ]);
});

it("a Lease confirms ingresses that drain, and reads as what it is or as nothing", () => {
  const text = formatApplied({ "d/b": 2, "d/a": 1, "d/c": 3 }, new Set(["d/a", "d/b"]));
  expect(text).toBe('{"d/a":1,"d/b":2}');
  expect(readApplied(text)).toEqual({ "d/a": 1, "d/b": 2 });
  for (const nonsense of [undefined, "", "{", "[1]", "null", '{"a":"x"}'])
    expect(readApplied(nonsense)).toEqual({});
});
