import type { Condition } from "@lifeboat/api";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  afterDetection,
  decideDetection,
  decideSilence,
  detectedConditions,
  type DetectorWindow,
  firstWindow,
  type InstanceReport,
  instanceLeaseName,
  instanceMarks,
  isHealthyStatus,
  isLeaseDue,
  leaderLeaseName,
  namesToAsk,
  parseHttpTarget,
  parseResolvConf,
  parseTcpTarget,
  reportedVerdict,
} from "./index.ts";

const TYPE = "ServiceDomainNameResolutionReady";
const thresholds = { failureMs: 30_000, successMs: 20_000, maxGapMs: 15_000 };

/** One letter per detection, five seconds apart: s succeeds, f fails, - is none. The verdict after each. */
function verdicts(start: string | undefined, detections: string): string {
  let window: DetectorWindow = firstWindow(start);
  return detections
    .split("")
    .map((letter, index) => {
      if (letter !== "-") window = afterDetection(window, letter === "s", 5000 * index, thresholds);
      return window.verdict === undefined ? "?" : window.verdict ? "T" : "F";
    })
    .join("");
}

describe("the window", () => {
  test.each([
    ["works, and goes on", "True", "sss", "TTT"],
    ["fails after 30 s of failures", "True", "sfffffff", "TTTTTTTF"],
    ["begins again after one success", "True", "ffffffsffffff", "TTTTTTTTTTTTT"],
    ["works again after 20 s of successes", "False", "sssss", "FFFFT"],
    ["stays failed while it flaps", "False", "ssfssfss", "FFFFFFFF"],
    ["is undecided for a whole threshold (absent)", undefined, "sssss", "????T"],
    ["is undecided for a whole threshold (Unknown)", "Unknown", "fffffff", "??????F"],
    ["does not count time without detections", "True", "f---------f", "TTTTTTTTTTT"],
    ["bears one that is late", "True", "f--f--f", "TTTTTTF"],
  ])("%s", (_, start, detections, expected) => {
    expect(verdicts(start, detections)).toBe(expected);
  });

  it("turns only after an unbroken run of the other kind that is as long as its threshold", () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 60 }),
        fc.constantFrom("True", "False"),
        (all, start) => {
          const text = verdicts(start, all.map((one) => (one ? "s" : "f")).join(""));
          let before = start === "True" ? "T" : "F";
          for (const [index, verdict] of text.split("").entries()) {
            if (verdict !== before) {
              const needed = (verdict === "F" ? thresholds.failureMs : thresholds.successMs) / 5000;
              const run = all.slice(index - needed, index + 1);
              expect(run).toHaveLength(needed + 1);
              expect(run.every((one) => one === (verdict === "T"))).toBe(true);
            }
            before = verdict;
          }
        },
      ),
    );
  });
});

describe("the instances together", () => {
  const report = (verdict: boolean | undefined, isFresh = true): InstanceReport => ({
    host: "n",
    verdict,
    isFresh,
  });
  test.each([
    ["none", [], undefined],
    ["all work", [report(true), report(true)], "True"],
    ["all fail", [report(false), report(false)], "False"],
    ["one works", [report(false), report(true)], "True"],
    ["one is undecided", [report(false), report(undefined)], undefined],
    ["the one that works is stale", [report(false), report(true, false)], "False"],
    ["all are stale", [report(false, false), report(true, false)], undefined],
  ] as const)("%s", (_, reports, status) => {
    expect(decideDetection(TYPE, reports, undefined)?.status).toBe(status);
  });

  it("use the words of the proposal, and write only changes", () => {
    const works = decideDetection(TYPE, [report(true)], undefined);
    expect(works).toMatchObject({
      message: "coredns function is normal",
      reason: "DetectorSucceeds",
    });
    const current = { ...works, lastTransitionTime: "" } as Condition;
    expect(decideDetection(TYPE, [report(true)], current)).toBeUndefined();
    expect(decideDetection(TYPE, [report(false)], current)?.message).toBe(
      "coredns function is not normal",
    );
    expect(decideDetection(TYPE, [report(undefined)], current)).toBeUndefined();
  });

  it("write their Lease when the verdict changes and as a heartbeat", () => {
    expect(isLeaseDue({ verdict: undefined }, 0)).toBe(true);
    const written = { verdict: true, at: 1000 };
    expect(isLeaseDue({ verdict: true, written }, 20_999)).toBe(false);
    expect(isLeaseDue({ verdict: true, written }, 21_000)).toBe(true);
    expect(isLeaseDue({ verdict: false, written }, 1001)).toBe(true);
  });

  it.each([true, false, undefined])("are read as they report: %s", (verdict) => {
    const lease = { metadata: instanceMarks("eu-1", TYPE, verdict) } as never;
    expect(reportedVerdict(lease, TYPE)).toBe(verdict);
    expect(reportedVerdict(lease, "Other")).toBeNull();
  });

  it("have their own words for other conditions, and elect a leader for each", () => {
    const type = "detector.lifeboat.dev/IngressReady";
    const works = decideDetection(type, [report(true)], undefined);
    expect(works?.message).toBe("At least one instance of the detector finds that it works.");
    expect(decideDetection(type, [report(true)], works as Condition)).toBeUndefined();
    expect(decideDetection(type, [report(false)], undefined)?.message).toMatch(/^Every instance/u);
    // Instances of a version before conditions were several know this name.
    expect(leaderLeaseName(TYPE)).toBe("detector-leader");
    expect(leaderLeaseName(type)).toMatch(/^detector-leader-[a-z0-9]+$/u);
    expect(leaderLeaseName("detector.lifeboat.dev/Other")).not.toBe(leaderLeaseName(type));
  });

  it("have a Lease each, whatever the host is called", () => {
    const hosts = ["n1", "n2", "NODE", "../x", "", "x".repeat(300)];
    const names = hosts.map((host) => instanceLeaseName(host, TYPE));
    expect(new Set(names).size).toBe(hosts.length);
    for (const name of names) expect(name).toMatch(/^detector-[a-z0-9]{1,20}$/);
  });
});

describe("silence", () => {
  const condition = (reason: string): Condition => ({
    type: TYPE,
    status: "False",
    reason,
    message: "",
    lastTransitionTime: "",
  });

  it("becomes Unknown at the threshold", () => {
    expect(decideSilence(condition("DetectorFails"), 59_999, 60_000)).toBeUndefined();
    expect(decideSilence(condition("DetectorFails"), 60_000, 60_000)).toMatchObject({
      status: "Unknown",
      reason: "DetectorSilent",
    });
  });

  it("is only of conditions that a detector wrote", () => {
    const all = ["DetectorFails", "DetectorSucceeds", "DetectorSilent", "ByHand", ""].map(
      condition,
    );
    expect(detectedConditions(all).map(({ reason }) => reason)).toEqual([
      "DetectorFails",
      "DetectorSucceeds",
    ]);
    expect(detectedConditions(undefined)).toEqual([]);
  });

  test.each([
    [TYPE, true],
    ["detector.lifeboat.dev/IngressReady", true],
    ["Ready", false],
    ["Fenced", false],
    ["IngressReady", false],
    ["detector.lifeboat.dev/", false],
  ])("of the type %s: %s", (type, expected) => {
    const all = [{ ...condition("DetectorFails"), type }];
    expect(detectedConditions(all)).toEqual(expected ? all : []);
    if (expected)
      expect(decideSilence(all[0] as Condition, 60_000, 60_000)).toMatchObject({
        type,
        status: "Unknown",
      });
  });
});

describe("a target", () => {
  test.each([
    ["10.0.0.1:443", { host: "10.0.0.1", port: 443 }],
    ["db.shop.svc:5432", { host: "db.shop.svc", port: 5432 }],
    ["[fd00::1]:80", { host: "fd00::1", port: 80 }],
    ["fd00::1:80", undefined],
    ["db.shop.svc", undefined],
    ["db:0", undefined],
    ["db:65536", undefined],
    ["db:-1", undefined],
    [":80", undefined],
    ["a b:80", undefined],
    ["http://db:80", undefined],
    ["", undefined],
  ])("of a TCP probe: %j", (text, expected) => {
    expect(parseTcpTarget(text)).toEqual(expected);
  });

  test.each([
    ["http://shop.svc/healthz?x=1", true],
    ["https://[fd00::1]:8443/", true],
    ["HTTP://shop", true],
    ["ftp://shop", false],
    ["shop.svc/healthz", false],
    ["http://user:secret@shop", false],
    ["http://user@shop", false],
    ["http://", false],
    ["http://shop/a b", false],
    ["", false],
  ])("of an HTTP probe: %j", (text, isOne) => {
    expect(parseHttpTarget(text) !== undefined).toBe(isOne);
  });

  test.each([
    [undefined, false],
    [199, false],
    [200, true],
    [204, true],
    [302, true],
    [399, true],
    [400, false],
    [500, false],
    [503, false],
  ])("answers %s: %s", (code, isHealthy) => {
    expect(isHealthyStatus(code)).toBe(isHealthy);
  });
});

describe("resolv.conf", () => {
  it("of a pod is read whole", () => {
    const text = [
      "# made by the kubelet",
      "search shop.svc.cluster.local svc.cluster.local cluster.local",
      "nameserver 10.96.0.10",
      "nameserver fd00::a ; second",
      "options ndots:5 timeout:2 attempts:3 rotate",
    ].join("\n");
    expect(parseResolvConf(text)).toEqual({
      servers: ["10.96.0.10", "fd00::a"],
      search: ["shop.svc.cluster.local", "svc.cluster.local", "cluster.local"],
      ndots: 5,
      timeoutMs: 2000,
    });
  });

  test.each([
    ["", { servers: [], search: [], ndots: 1, timeoutMs: 5000 }],
    [
      "nameserver\nsearch\noptions ndots: timeout:x",
      { servers: [], search: [], ndots: 1, timeoutMs: 5000 },
    ],
    ["search a\ndomain b c", { search: ["b"] }],
    ["options ndots:99 timeout:0", { ndots: 15, timeoutMs: 1000 }],
    ["nameserver 1\nnameserver 2\nnameserver 3\nnameserver 4", { servers: ["1", "2", "3"] }],
    ["\r\nnameserver 1\r\n", { servers: ["1"] }],
  ])("%j", (text, expected) => {
    expect(parseResolvConf(text)).toMatchObject(expected);
  });

  test.each([
    [
      "kubernetes.default",
      { search: ["a", "b."], ndots: 5 },
      ["kubernetes.default.a", "kubernetes.default.b", "kubernetes.default"],
    ],
    [
      "kubernetes.default",
      { search: ["a"], ndots: 1 },
      ["kubernetes.default", "kubernetes.default.a"],
    ],
    ["kubernetes.default.", { search: ["a"], ndots: 5 }, ["kubernetes.default"]],
    ["x", { search: [], ndots: 1 }, ["x"]],
  ])("%s with %j asks for %j", (name, settings, names) => {
    expect(namesToAsk(name, settings)).toEqual(names);
  });
});
