/** Where an entry stands follows from its binding; a binding that was put back is left alone. */
import { describe, expect, it } from "vitest";
import { entryState, type EntryTerm, type EntryView, evictionMarks } from "./entry.ts";
import { evict } from "./evict.ts";
import { makeBinding, NOW } from "./makers.suite.ts";

const TERM: EntryTerm = { taint: "down:NoExecute@t", isExempt: false, isInForce: true };
const view = (more: Partial<EntryView> = {}): EntryView => ({
  evacuation: "eu-1-1",
  cluster: "eu-1",
  uid: "u1",
  terms: [TERM],
  binding: makeBinding(),
  takenOut: false,
  ...more,
});
const task = { fromCluster: "eu-1", reason: "r", producer: "p" };
const elsewhere = makeBinding({ clusters: [{ name: "eu-2" }] });
const evicted = evict(
  makeBinding(),
  {
    cluster: "eu-1",
    reason: "r",
    message: "",
    producer: "p",
    purgeMode: "Gracefully",
    state: {},
    inject: false,
    mark: "eu-1-1 down:NoExecute@t",
  },
  NOW,
);
const putBack = { ...evicted, spec: makeBinding().spec };

describe("an entry", () => {
  it.each([
    ["is on the cluster", {}, "Queued"],
    ["has a task", { binding: evicted }, "Evicted"],
    [
      "has a task of another",
      {
        binding: makeBinding({
          clusters: [],
          gracefulEvictionTasks: [{ ...task, fromCluster: "x" }],
        }),
      },
      "Done",
    ],
    ["is elsewhere", { binding: elsewhere }, "Done"],
    ["is deleted", { binding: undefined }, "Done"],
    ["is another of the same name", { uid: "other" }, "Done"],
    ["is being deleted", { binding: makeBinding({}, { deletionTimestamp: "t" }) }, "Done"],
    ["is exempt", { terms: [{ ...TERM, isExempt: true }] }, "Exempt"],
    ["is exempt for one taint only", { terms: [{ ...TERM, isExempt: true }, TERM] }, "Queued"],
    [
      "was queued for a taint that is gone",
      { terms: [{ ...TERM, isInForce: false }] },
      "Abandoned",
    ],
    [
      "is left with a taint that exempts it",
      {
        terms: [
          { ...TERM, isInForce: false },
          { ...TERM, isExempt: true },
        ],
      },
      "Abandoned",
    ],
    ["was taken out", { takenOut: true }, "Abandoned"],
    ["was taken out after it had left", { takenOut: true, binding: elsewhere }, "Done"],
    ["was put back", { binding: putBack }, "Abandoned"],
    [
      "was put back, and another evacuation began for the same taint",
      { binding: putBack, evacuation: "eu-1-2" },
      "Abandoned",
    ],
    [
      "was put back, and another evacuation began for a taint without a time",
      {
        binding: makeBinding(
          {},
          { annotations: { "lifeboat.dev/evicted-for": '{"eu-1":"eu-1-1 down:NoExecute@"}' } },
        ),
        evacuation: "eu-1-2",
        terms: [{ ...TERM, taint: "down:NoExecute@" }],
      },
      "Queued",
    ],
    [
      "was put back, and another taint came",
      { binding: putBack, terms: [TERM, { ...TERM, taint: "slow" }] },
      "Queued",
    ],
  ] as const)("that %s", (_name, more, state) => {
    expect(entryState(view(more)).state).toBe(state);
  });

  it.each([
    ["is in no cluster since", {}, "eu-1-1 t", "Evicted"],
    ["is elsewhere", { clusters: [{ name: "us-1" }] }, "eu-1-1 t", "Done"],
    ["was left in no cluster by another evacuation", {}, "eu-1-2 t", "Done"],
  ] as const)("that left and %s", (_name, spec, mark, state) => {
    const annotations = {
      "lifeboat.dev/evicted-for": JSON.stringify({ "us-9": "x", "eu-1": mark }),
    };
    const binding = makeBinding({ clusters: [], ...spec }, { annotations });
    const answer = entryState(view({ binding, evacuation: "eu-1-1", cluster: "eu-1" }));
    expect(answer).toMatchObject({ state, isStranded: state === "Evicted" });
  });

  it("reports whether it was put back", () => {
    expect(entryState(view({ binding: putBack })).putBack).toBe(true);
    expect(entryState(view({ terms: [{ ...TERM, isInForce: false }] })).putBack).toBe(false);
  });
});

describe("the mark", () => {
  it.each(["", "nonsense", "[]", "null", '{"eu-1":5}', '"x"'])(
    "is read from %j as none",
    (text) => {
      const binding = makeBinding({}, { annotations: { "lifeboat.dev/evicted-for": text } });
      expect(evictionMarks(binding)["eu-1"]).toBeUndefined();
    },
  );

  it("is kept for ten clusters", () => {
    let binding = makeBinding();
    for (let i = 0; i < 15; i++) {
      const cluster = `c${i}`;
      binding = evict(
        { ...binding, spec: { ...binding.spec, clusters: [{ name: cluster }] } },
        {
          cluster,
          reason: "r",
          message: "",
          producer: "p",
          purgeMode: "Gracefully",
          state: {},
          inject: false,
          mark: `${cluster}-1 t`,
        },
        NOW,
      );
    }
    const marks = evictionMarks(binding);
    expect(Object.keys(marks)).toHaveLength(10);
    expect(marks["c14"]).toBe("c14-1 t");
    expect(marks["c4"]).toBeUndefined();
  });
});
