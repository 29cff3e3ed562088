/** Which entries need an approval, what an approval covers, and when it ends. */
import type { EvacuationApproval } from "@lifeboat/api";
import { addMs, formatTime, instantOf, plainMoment } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asksForApproval, isApproved, needsApproval, nextExpiry } from "./approval.ts";
import { DOWN } from "./makers.suite.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1));
const DRAIN = { key: "lifeboat.dev/drain", effect: "NoExecute" as const };
const at = formatTime(NOW);
const inSeconds = (seconds: number): string => formatTime(addMs(NOW, seconds * 1000));
const WEB = { namespace: "shop", uid: "web" };

describe("an approval is needed", () => {
  it.each([
    ["by the entry", { approval: "Required" }, DOWN, "Policy", true],
    ["not without", {}, DOWN, "Policy", false],
    ["by the switch of the fleet", {}, DOWN, "Required", true],
    ["not for a drain", { approval: "Required" }, DRAIN, "Required", false],
  ] as const)("%s", (_name, entry, taint, mode, expected) => {
    expect(needsApproval(entry, taint, mode)).toBe(expected);
  });

  it.each([
    ["Required", true],
    ["required", false],
    ["", false],
    [undefined, false],
  ])("when the annotation of the policy is %j: %j", (text, expected) => {
    const annotations = text === undefined ? {} : { "lifeboat.dev/approval": text };
    expect(asksForApproval({ metadata: { name: "p", annotations } })).toBe(expected);
    expect(asksForApproval(undefined)).toBe(false);
  });
});

describe("an approval covers", () => {
  it.each([
    ["the whole evacuation", { at }, true],
    ["its namespace", { at, namespace: "shop" }, true],
    ["no other namespace", { at, namespace: "other" }, false],
    ["its binding", { at, uid: "web" }, true],
    ["no other binding", { at, uid: "db" }, false],
    ["both, when both are named", { at, uid: "web", namespace: "other" }, false],
    ["until it expires", { at, expiresAt: inSeconds(1) }, true],
    ["not from then on", { at, expiresAt: inSeconds(0) }, false],
    ["nothing, with a time that cannot be read", { at: "once", expiresAt: "later" }, false],
  ] as const)("%s", (_name, approval, expected) => {
    expect(isApproved([approval], WEB, plainMoment(NOW))).toBe(expected);
  });

  it("no object without a namespace by that of a namespace", () => {
    expect(isApproved([{ at, namespace: "shop" }], { uid: "web" }, plainMoment(NOW))).toBe(false);
    expect(isApproved([{ at }], { uid: "web" }, plainMoment(NOW))).toBe(true);
    expect(isApproved([], WEB, plainMoment(NOW))).toBe(false);
  });

  it("the less the later it is, and changes only at the time that is announced", () => {
    const approval = fc
      .record({
        namespace: fc.option(fc.constantFrom("shop", "other"), { nil: undefined }),
        uid: fc.option(fc.constantFrom("web", "db"), { nil: undefined }),
        expires: fc.option(fc.integer({ min: -5, max: 20 }), { nil: undefined }),
      })
      .map(({ namespace, uid, expires }): EvacuationApproval => ({
        at,
        ...(namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
        ...(expires !== undefined && { expiresAt: inSeconds(expires) }),
      }));
    fc.assert(
      fc.property(fc.array(approval, { maxLength: 5 }), fc.nat(20), (approvals, seconds) => {
        const later = plainMoment(addMs(NOW, seconds * 1000));
        const isNow = isApproved(approvals, WEB, plainMoment(NOW));
        const isLater = isApproved(approvals, WEB, later);
        if (!isNow) expect(isLater).toBe(false);
        const next = nextExpiry(approvals, plainMoment(NOW));
        if (next === undefined || later.now < next) expect(isLater).toBe(isNow);
      }),
    );
  });
});
