/** Phases, and how long it will take. */
import { describe, expect, it } from "vitest";
import { ADDED, DOWN, makeEvacuation, NOW, recorded } from "./makers.suite.ts";
import { progressOf, type ProgressView, secondsLeft } from "./progress.ts";
import { DEFAULT_RATES, rateOf } from "./rate.ts";

interface Counts {
  readonly total: number;
  readonly queued: number;
  readonly evicted: number;
  readonly done: number;
  readonly held: number;
  readonly abandoned: number;
  readonly exempt: number;
  readonly awaitingApproval?: number;
  readonly paused?: number;
}
const NONE: Counts = { total: 0, queued: 0, evicted: 0, done: 0, held: 0, abandoned: 0, exempt: 0 };
const HEALTHY = rateOf({ failed: 1, counted: 3 }, DEFAULT_RATES);
const BRAKED = rateOf({ failed: 3, counted: 3 }, DEFAULT_RATES);
const GONE = [recorded(DOWN, { removedAt: ADDED })];
const DRAINED = [recorded({ key: "lifeboat.dev/drain", effect: "NoExecute" })];
const paused = { ...makeEvacuation("eu-1"), spec: { cluster: "eu", paused: true } };

function view(more: Partial<ProgressView> = {}, counts: Partial<Counts> = {}): ProgressView {
  return {
    evacuation: makeEvacuation("eu-1"),
    taints: [recorded(DOWN)],
    isRecording: false,
    counts: { ...NONE, ...counts },
    stranded: 0,
    due: 1,
    rate: HEALTHY,
    budgetPaused: false,
    clusterPaused: false,
    failover: true,
    held: [],
    putBack: [],
    secondsLeft: undefined,
    ...more,
  };
}

describe("the phase", () => {
  it.each([
    ["nothing affected", {}, {}, "Completed", "AllMoved"],
    ["all done", {}, { done: 3, exempt: 2 }, "Completed", "AllMoved"],
    ["recording", { isRecording: true }, {}, "Recording", "Recording"],
    ["some to go", {}, { queued: 2 }, "Running", "Moving"],
    ["some to go later", { due: 0 }, { queued: 2 }, "Running", "AwaitingToleration"],
    ["none to go, some on their way", {}, { evicted: 1, held: 0 }, "Running", "Moving"],
    ["left, and in no cluster", { stranded: 2 }, { evicted: 2, done: 1 }, "Running", "NotPlaced"],
    ["one of two in no cluster", { stranded: 1 }, { evicted: 2 }, "Running", "Moving"],
    ["only held ones", {}, { held: 2, done: 1 }, "Held", "NoTarget"],
    ["braked", { rate: BRAKED }, { queued: 1 }, "Braked", "EverythingFailed"],
    ["braked with nothing left to move", { rate: BRAKED }, { evicted: 1 }, "Running", "Moving"],
    ["paused", { evacuation: paused }, { queued: 1 }, "Paused", "PausedByPerson"],
    [
      "paused with nothing left to move",
      { evacuation: paused },
      { done: 1 },
      "Completed",
      "AllMoved",
    ],
    ["all paused", { budgetPaused: true }, { held: 1 }, "Paused", "BudgetPaused"],
    ["cluster paused", { clusterPaused: true }, { queued: 1 }, "Paused", "ClusterPaused"],
    ["namespace paused", {}, { queued: 2, paused: 2 }, "Paused", "NamespacePaused"],
    ["one namespace of two paused", {}, { queued: 2, paused: 1 }, "Running", "Moving"],
    ["not approved", {}, { awaitingApproval: 2, done: 1 }, "AwaitingApproval", "AwaitingApproval"],
    [
      "not approved, paused",
      { clusterPaused: true },
      { awaitingApproval: 2 },
      "Paused",
      "ClusterPaused",
    ],
    ["not approved, one on its way", {}, { awaitingApproval: 2, evicted: 1 }, "Running", "Moving"],
    ["not approved, one held", {}, { awaitingApproval: 2, held: 1 }, "Held", "NoTarget"],
    ["not approved, one to go", {}, { awaitingApproval: 2, queued: 1 }, "Running", "Moving"],
    [
      "not approved, braked",
      { rate: BRAKED },
      { awaitingApproval: 2 },
      "AwaitingApproval",
      "AwaitingApproval",
    ],
    ["gate off", { failover: false }, { queued: 1 }, "Paused", "GateOff"],
    ["gate off, drain", { failover: false, taints: DRAINED }, { queued: 1 }, "Running", "Moving"],
    ["recovered", { taints: GONE }, { abandoned: 1, done: 1 }, "Abandoned", "ClusterRecovered"],
    [
      "recovered, one on its way",
      { taints: GONE },
      { abandoned: 1, evicted: 1 },
      "Running",
      "Moving",
    ],
    ["recovered after all moved", { taints: GONE }, { done: 1 }, "Completed", "AllMoved"],
    ["taken out", {}, { abandoned: 1 }, "Completed", "TakenOutByPerson"],
  ] as const)("%s", (_name, more, counts, phase, reason) => {
    const status = progressOf(view(more, counts), NOW);
    expect(status).toMatchObject({ phase, reason });
    expect(status?.message).not.toBe("");
    expect(status?.finishedAt !== undefined).toBe(phase === "Completed" || phase === "Abandoned");
  });

  it("is not written again when nothing but the estimate changed", () => {
    const first = progressOf(view({ secondsLeft: 10 }, { queued: 5 }), NOW);
    expect(first?.estimatedSecondsLeft).toBe(10);
    const evacuation = { ...makeEvacuation("eu-1"), status: first ?? {} };
    expect(progressOf(view({ secondsLeft: 8, evacuation }, { queued: 5 }), NOW)).toBeUndefined();
    const later = progressOf(view({ secondsLeft: 8, evacuation }, { queued: 4 }), NOW);
    expect(later).toMatchObject({ estimatedSecondsLeft: 8, startedAt: first?.startedAt });
  });

  it("goes on from Completed when an entry is added", () => {
    const finished = progressOf(view({}, { done: 1 }), NOW) ?? {};
    const evacuation = { ...makeEvacuation("eu-1"), status: finished };
    const status = progressOf(view({ evacuation }, { done: 1, queued: 1 }), NOW);
    expect(status?.phase).toBe("Running");
    expect(status).not.toHaveProperty("finishedAt");
  });

  it("keeps what was taken out, adds what was put back, and bounds both lists", () => {
    const one = (uid: string) => ({ kind: "ResourceBinding" as const, name: uid, uid });
    const evacuation = makeEvacuation("eu-1", { editedByHand: [one("a")] });
    const held = Array.from({ length: 150 }, (_, i) => ({
      binding: one(`h${i}`),
      reason: "NoTarget",
    }));
    const status = progressOf(view({ evacuation, putBack: [one("a"), one("b")], held }), NOW);
    expect(status?.editedByHand?.map(({ uid }) => uid)).toEqual(["a", "b"]);
    expect(status?.held).toHaveLength(100);
  });
});

describe("the estimate", () => {
  const rates = { workloads: 0.5, passive: 10 };
  it.each([
    ["alone", { workloads: 10, passive: 0 }, [], 20],
    ["with a short line beside", { workloads: 10, passive: 0 }, [{ workloads: 2, passive: 9 }], 24],
    ["with a long line beside", { workloads: 10, passive: 0 }, [{ workloads: 99, passive: 0 }], 40],
    [
      "passive after all workloads",
      { workloads: 1, passive: 10 },
      [{ workloads: 9, passive: 0 }],
      21,
    ],
    ["no workload", { workloads: 0, passive: 0 }, [{ workloads: 9, passive: 0 }], undefined],
  ])("%s", (_name, own, others, expected) => {
    expect(secondsLeft(own, others, rates, undefined, NOW)).toBe(expected);
  });

  it("is not shorter than the longest toleration, and none while nothing moves", () => {
    const own = { workloads: 1, passive: 0 };
    const until = (NOW + 60_000) as typeof NOW;
    expect(secondsLeft(own, [], rates, until, NOW)).toBe(60);
    expect(secondsLeft(own, [], { workloads: 0, passive: 0 }, until, NOW)).toBeUndefined();
  });
});
