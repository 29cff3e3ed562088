import fc from "fast-check";
import { addMs, deepFreeze } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import type { Pod } from "../kinds.ts";
import { ANY_UNFINISHED, NOW, pod } from "./objects.suite.ts";
import { decidePod, type PodTrouble, type PodView, stageOf } from "./pod-lifecycle.ts";
import { isReady } from "./pods.ts";
import { saysNew } from "./status.ts";

const DELAYS = { startDelayMs: 3000, stopDelayMs: 2000, runMs: 5000 };

function view(subject: Pod, trouble: PodTrouble = { kind: "none" }): PodView {
  return { pod: subject, since: NOW, ...DELAYS, trouble };
}

function after(subject: Pod, ms: number, trouble?: PodTrouble): Pod {
  const plan = decidePod(view(subject, trouble), addMs(NOW, ms));
  return plan.kind === "report" ? deepFreeze({ ...subject, status: plan.status }) : subject;
}

function withPolicy(subject: Pod, restartPolicy: string): Pod {
  return { ...subject, spec: { ...subject.spec, restartPolicy } };
}

describe("a pod", () => {
  it("without a node waits", () => {
    expect(decidePod(view(pod("p", "unplaced")), addMs(NOW, 1e9))).toEqual({ kind: "wait" });
  });

  it("starts after the start delay, not before", () => {
    const starting = pod("p", "pending");
    expect(decidePod(view(starting), addMs(NOW, 2999))).toEqual({
      kind: "wait",
      checkAgainAt: addMs(NOW, 3000),
    });
    const running = after(starting, 3000);
    expect(running.status).toMatchObject({ phase: "Running", startTime: "2026-01-01T00:00:03Z" });
    expect(isReady(running)).toBe(true);
  });

  it("runs for ever unless it is meant to end", () => {
    const running = after(pod("p", "pending"), 3000);
    expect(decidePod(view(running), addMs(NOW, 1e9))).toEqual({ kind: "wait" });
    const ended = after(withPolicy(running, "OnFailure"), 5000);
    expect(ended.status?.phase).toBe("Succeeded");
    expect(decidePod(view(ended), addMs(NOW, 1e9))).toEqual({ kind: "wait" });
  });

  it("with readiness gates is ready only while every gate's condition is True", () => {
    const plain = pod("p", "pending");
    const gates = [
      { conditionType: "example.com/serves" },
      { conditionType: "example.com/joined" },
    ];
    const running = after({ ...plain, spec: { ...plain.spec, readinessGates: gates } }, 3000);
    const reported = (
      subject: Pod,
      status: "True" | "False",
      ...types: readonly string[]
    ): Pod => ({
      ...subject,
      status: {
        ...subject.status,
        conditions: [
          ...(subject.status?.conditions ?? []).filter(({ type }) => !types.includes(type)),
          ...types.map((type) => ({ type, status })),
        ],
      },
    });
    const condition = (subject: Pod, type: string) =>
      subject.status?.conditions?.find((one) => one.type === type);
    expect(condition(running, "ContainersReady")?.status).toBe("True");
    expect(condition(running, "Ready")).toMatchObject({
      status: "False",
      message: expect.stringContaining("[example.com/serves example.com/joined]"),
    });
    expect(decidePod(view(running), addMs(NOW, 1e9))).toEqual({ kind: "wait" });
    expect(isReady(after(reported(running, "True", "example.com/serves"), 4000))).toBe(false);
    const ready = after(
      reported(running, "True", "example.com/serves", "example.com/joined"),
      4000,
    );
    expect(isReady(ready)).toBe(true);
    expect(condition(ready, "Ready")?.reason).toBeUndefined();
    expect(decidePod(view(ready), addMs(NOW, 1e9))).toEqual({ kind: "wait" });
    const closed = after(reported(ready, "False", "example.com/serves"), 5000);
    expect(isReady(closed)).toBe(false);
    // A fault of the containers is reported although a gate is closed already.
    expect(condition(after(closed, 6000, { kind: "not-ready" }), "ContainersReady")?.status).toBe(
      "False",
    );
  });

  it("stops after the stop delay, or sooner when its grace is shorter", () => {
    const leaving = pod("p", "leaving");
    expect(decidePod(view(leaving), addMs(NOW, 1999))).toEqual({
      kind: "wait",
      checkAgainAt: addMs(NOW, 2000),
    });
    expect(decidePod(view(leaving), addMs(NOW, 2000))).toEqual({ kind: "remove" });
    const hasty = { ...leaving, metadata: { ...leaving.metadata, deletionGracePeriodSeconds: 1 } };
    expect(decidePod(view(hasty), addMs(NOW, 1000))).toEqual({ kind: "remove" });
    const held = { ...leaving, metadata: { ...leaving.metadata, deletionGracePeriodSeconds: 0 } };
    expect(decidePod(view(held), addMs(NOW, 1e9))).toEqual({ kind: "wait" });
  });
});

describe("trouble", () => {
  it("that keeps a pod from being ready leaves it running", () => {
    const sick = after(pod("p", "pending"), 3000, { kind: "not-ready" });
    expect([sick.status?.phase, isReady(sick)]).toEqual(["Running", false]);
    expect(isReady(after(sick, 9000))).toBe(true);
  });

  it("that makes pods late adds to the start delay", () => {
    const late = { kind: "late", delayMs: 1000 } as const;
    expect(after(pod("p", "pending"), 3999, late).status?.phase).toBe("Pending");
    expect(after(pod("p", "pending"), 4000, late).status?.phase).toBe("Running");
  });

  it("that crashes pods restarts them, or fails those that are not restarted", () => {
    const running = after(pod("p", "pending"), 3000);
    const crashed = after(running, 4000, { kind: "crash" });
    expect(crashed.status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      ready: false,
      state: { waiting: { reason: "CrashLoopBackOff" } },
    });
    expect(stageOf(crashed)).toBe("crashed");
    expect(after(crashed, 9000, { kind: "crash" })).toBe(crashed);
    expect(isReady(after(crashed, 9000))).toBe(true);
    expect(after(withPolicy(running, "Never"), 4000, { kind: "crash" }).status?.phase).toBe(
      "Failed",
    );
  });
});

it("says nothing twice: after a report the next look at the same time reports nothing", () => {
  const state = fc.constantFrom(...ANY_UNFINISHED);
  const trouble = fc.constantFrom<PodTrouble>(
    { kind: "none" },
    { kind: "not-ready" },
    { kind: "late", delayMs: 500 },
    { kind: "crash" },
  );
  const policy = fc.constantFrom("Always", "OnFailure", "Never");
  fc.assert(
    fc.property(state, trouble, policy, fc.nat(4900), (...[from, what, restart, ms]) => {
      const first = after(withPolicy(pod("p", from), restart), ms, what);
      const second = after(first, ms, what);
      expect(saysNew(first.status, second.status)).toBe(false);
    }),
  );
});
