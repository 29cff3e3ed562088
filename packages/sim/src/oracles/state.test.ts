/** What the oracles of preserved state say of histories that break and keep their promises. */
import { wellKnown } from "@lifeboat/core";
import type { BindingParts } from "./history.suite.ts";
import { type History, itJudges, task } from "./history.suite.ts";

const KEY = "failover.karmada.io/job";
const ON = { statefulInjection: true };

function rules(jsonPath: string, aliasLabelName = KEY) {
  return { cluster: { statePreservation: { rules: [{ aliasLabelName, jsonPath }] } } };
}

function carrying(labels: object, from = "m1", more: object = {}) {
  return { [wellKnown.PRESERVED_STATE]: JSON.stringify({ from, labels, ...more }) };
}

/** The workload leaves m1, where its copy reports `job: a`, with this state. */
function evicted(h: History, labels: object | undefined, parts: BindingParts = {}): void {
  const failover = parts.failover ?? rules("{.job}");
  h.work("m1", { status: { job: "a", many: ["x", "y"], text: "no label!" } });
  h.binding({ on: { m1: 2 }, ...parts, failover });
  const on = Object.entries(parts.on ?? {}).filter(([name]) => name !== "m1");
  const left = task("m1", {
    clustersBeforeFailover: Object.keys(parts.on ?? { m1: 2 }),
    ...(labels !== undefined && { preservedLabelState: labels }),
  });
  const annotations = labels === undefined ? {} : carrying(labels);
  h.binding({ on: Object.fromEntries(on), annotations, failover, tasks: [left] });
}

/** A copy on m1 that was given `job: given` by m0, with this health and report, leaves with this state. */
function leftAgain(h: History, health: "Healthy" | "Unhealthy", labels: object): void {
  const failover = rules("{.job}");
  const given = carrying({ [KEY]: "given" }, "m0");
  h.work("m1", { health, status: { job: "a" } });
  h.pass(60);
  h.work("m1", { health: "Unhealthy", status: { job: "a" } });
  h.binding({ on: { m1: 2 }, annotations: given, failover });
  const left = task("m1", { clustersBeforeFailover: ["m1"], preservedLabelState: labels });
  h.binding({ annotations: carrying(labels), failover, tasks: [left] });
}

itJudges([
  ...(
    [
      ["kept", "was healthy once, and its own state goes on", "Healthy", "a"],
      ["broken", "was healthy once, and the state it was given goes on", "Healthy", "given"],
      ["kept", "was never healthy, and the state it was given goes on", "Unhealthy", "given"],
      ["broken", "was never healthy, and its own state goes on", "Unhealthy", "a"],
    ] as const
  ).map(
    ([verdict, name, health, value]) =>
      [
        "state-is-what-the-source-reported",
        verdict,
        `the second copy ${name}`,
        (h: History) => leftAgain(h, health, { [KEY]: value }),
        ON,
      ] as const,
  ),
  [
    "state-that-is-no-label-holds",
    "kept",
    "the rules of a copy that was never healthy are not run",
    (h) => {
      const failover = rules("{.many[*]}");
      const given = carrying({ [KEY]: "given" }, "m0");
      h.work("m1", { health: "Unhealthy", status: { many: ["x", "y"] } });
      h.binding({ on: { m1: 2 }, annotations: given, failover });
      const kept = { [KEY]: "given" };
      const left = task("m1", { clustersBeforeFailover: ["m1"], preservedLabelState: kept });
      h.binding({ annotations: carrying(kept), failover, tasks: [left] });
    },
    ON,
  ],
  [
    "no-state-of-a-part",
    "kept",
    "the state that a part was given goes on",
    (h) => {
      h.binding({ on: { m1: 1, m2: 1 }, annotations: carrying({ [KEY]: "given" }, "m0") });
      const kept = { [KEY]: "given" };
      const left = task("m1", { preservedLabelState: kept });
      h.binding({ on: { m2: 1 }, annotations: carrying(kept), tasks: [left] });
    },
  ],
  [
    "state-is-written-with-the-eviction",
    "broken",
    "the task has none",
    (h) => evicted(h, undefined),
    ON,
  ],
  ["state-is-written-with-the-eviction", "kept", "it has", (h) => evicted(h, { [KEY]: "a" }), ON],
  [
    "state-is-written-with-the-eviction",
    "kept",
    "the key is missing",
    (h) => evicted(h, undefined, { failover: rules("{.nothing}") }),
    ON,
  ],
  [
    "state-is-what-the-source-reported",
    "broken",
    "the value is another",
    (h) => evicted(h, { [KEY]: "b" }),
    ON,
  ],
  [
    "state-is-what-the-source-reported",
    "kept",
    "the value was reported a second ago",
    (h) => {
      h.work("m1", { status: { job: "b" } });
      h.pass(1);
      evicted(h, { [KEY]: "b" });
    },
    ON,
  ],
  [
    "state-is-not-lost",
    "broken",
    "the mark of the binding vanishes",
    (h) => {
      h.binding({ on: { m2: 2 }, annotations: carrying({ [KEY]: "a" }) });
      h.binding({ on: { m2: 2 } });
    },
  ],
  [
    "state-is-not-lost",
    "kept",
    "the next failover replaces it",
    (h) => {
      h.binding({ on: { m2: 2 }, annotations: carrying({ [KEY]: "a" }) });
      h.binding({ annotations: carrying({ [KEY]: "b" }, "m2"), tasks: [task("m2")] });
    },
  ],
  ...([true, false] as const).map(
    (isRenewed) =>
      [
        "state-is-not-lost",
        isRenewed ? "kept" : "broken",
        `it leaves m2 once more, ${isRenewed ? "with a new task" : "and its old task goes on"}`,
        (h: History) => {
          const old = task("m2", { creationTimestamp: "2026-01-01T00:00:00Z" });
          const parts = { on: { m2: 2 }, tasks: [old] };
          h.binding({ ...parts, annotations: carrying({ [KEY]: "a" }) });
          h.binding({ annotations: {}, tasks: [isRenewed ? task("m2") : old] });
        },
      ] as const,
  ),
  [
    "state-goes-to-new-copies",
    "broken",
    "a new Work lacks it",
    (h) => {
      h.binding({ on: { m2: 2 }, annotations: carrying({ [KEY]: "a" }) });
      h.work("m2");
    },
  ],
  [
    "state-goes-to-new-copies",
    "broken",
    "a later version of the Work drops it",
    (h) => {
      h.binding({ on: { m2: 2 }, annotations: carrying({ [KEY]: "a" }) });
      h.work("m2", { labels: { [KEY]: "a" } });
      h.work("m2", { generation: 2 });
    },
  ],
  [
    "state-goes-to-new-copies",
    "broken",
    "the cluster that was left gets it",
    (h) => {
      h.work("m1");
      h.binding({ on: { m2: 2 }, annotations: carrying({ [KEY]: "a" }) });
      h.work("m1", { generation: 2, labels: { [KEY]: "a" } });
    },
  ],
  [
    "state-goes-to-new-copies",
    "kept",
    "the new Work has it",
    (h) => {
      h.binding({ on: { m2: 2 }, annotations: carrying({ [KEY]: "a" }) });
      h.work("m2", { labels: { [KEY]: "a" } });
    },
  ],
  [
    "state-that-is-no-label-holds",
    "broken",
    "a rule finds several values",
    (h) => evicted(h, { [KEY]: "x" }, { failover: rules("{.many[*]}") }),
    ON,
  ],
  [
    "state-that-is-no-label-holds",
    "broken",
    "a value is no label",
    (h) => evicted(h, { [KEY]: "no label!" }, { failover: rules("{.text}") }),
    ON,
  ],
  [
    "state-that-is-no-label-holds",
    "kept",
    "a key is missing",
    (h) => evicted(h, undefined, { failover: rules("{.nothing}") }),
    ON,
  ],
  [
    "state-takes-no-label-of-others",
    "broken",
    "the label is the template's",
    (h) => {
      h.template();
      evicted(h, { app: "a" }, { failover: rules("{.job}", "app") });
    },
  ],
  [
    "state-takes-no-label-of-others",
    "broken",
    "the label is one of Kubernetes",
    (h) => evicted(h, { "app.kubernetes.io/name": "a" }),
  ],
  ["state-takes-no-label-of-others", "kept", "it is free", (h) => evicted(h, { [KEY]: "a" })],
  [
    "each-failover-carries-its-own-state",
    "broken",
    "the former state is carried on",
    (h) => {
      h.binding({ on: { m1: 2 }, annotations: carrying({ [KEY]: "old" }, "m3") });
      const left = task("m1", { preservedLabelState: { [KEY]: "a" } });
      h.binding({ annotations: carrying({ [KEY]: "old" }), tasks: [left] });
    },
  ],
  ["each-failover-carries-its-own-state", "kept", "it is new", (h) => evicted(h, { [KEY]: "a" })],
  [
    "no-state-of-a-part",
    "broken",
    "another cluster has replicas too",
    (h) => evicted(h, { [KEY]: "a" }, { on: { m1: 1, m2: 1 } }),
  ],
  ["no-state-of-a-part", "kept", "none has", (h) => evicted(h, { [KEY]: "a" })],
  ["no-state-while-the-gate-is-off", "broken", "it is kept", (h) => evicted(h, { [KEY]: "a" })],
  ["no-state-while-the-gate-is-off", "kept", "it is not", (h) => evicted(h, undefined)],
  [
    "no-state-while-the-gate-is-off",
    "kept",
    "the gate is on",
    (h) => evicted(h, { [KEY]: "a" }),
    ON,
  ],
  ...(["broken", "kept"] as const).map(
    (verdict) =>
      [
        "state-arrives",
        verdict,
        `the copy in the member has ${verdict === "kept" ? "the label" : "no label"}`,
        (h: History) => {
          h.binding({ on: { m2: 2 }, annotations: carrying({ [KEY]: "a" }) });
          h.copy("m2", 2, { labels: verdict === "kept" ? { [KEY]: "a" } : {} });
        },
      ] as const,
  ),
]);
