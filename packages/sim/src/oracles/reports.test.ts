/** What the oracles of reports, and of kinds without health, say of histories. */
import { wellKnown } from "@lifeboat/core";
import { type History, itJudges, task } from "./history.suite.ts";

/** A Work whose copy reports so many bytes. */
const reporting =
  (bytes: number) =>
  (h: History): void =>
    h.work("m1", { status: { text: "x".repeat(bytes) } });

/** A Work that is written so often within a second. */
const written =
  (times: number) =>
  (h: History): void => {
    for (let time = 0; time < times; time++) h.work("m1");
  };

/** A binding of a ConfigMap or Deployment, with what it shows of m1 and whom it leaves. */
function bindingOf(kind: string, readyReplicas: number, tasks: readonly object[] = []): object {
  return {
    kind: "ResourceBinding",
    metadata: { name: "web", namespace: "default", labels: { [wellKnown.BINDING_ID]: "id" } },
    spec: {
      resource: { kind, namespace: "default", name: "web" },
      clusters: [{ name: "m1" }],
      gracefulEvictionTasks: tasks,
    },
    status: { aggregatedStatus: [{ clusterName: "m1", status: { readyReplicas } }] },
  };
}

const KEY = "work.karmada.io/resourcebindings/default/web";

/** The copy in m1 has two ready replicas; the binding shows so many. */
const showing =
  (ready: number) =>
  (h: History): void => {
    h.copy("m1", 2);
    h.put("plane", KEY, bindingOf("Deployment", ready));
  };

itJudges([
  ["reports-are-bounded", "broken", "a report is huge", reporting(500_000)],
  ["reports-are-bounded", "kept", "it is large", reporting(100_000)],
  ["reports-come-at-a-steady-pace", "broken", "a Work is written fifty times", written(50)],
  ["reports-come-at-a-steady-pace", "kept", "it is written forty times", written(40)],
  ["reports-are-true", "broken", "one replica less is shown", showing(1)],
  ["reports-are-true", "kept", "all are", showing(2)],
  [
    "what-has-no-health-leaves-too",
    "broken",
    "it is still leaving",
    (h) => h.put("plane", KEY, bindingOf("ConfigMap", 0, [task("m2")])),
  ],
  [
    "what-has-no-health-leaves-too",
    "kept",
    "it has left",
    (h) => h.put("plane", KEY, bindingOf("ConfigMap", 0)),
  ],
]);
