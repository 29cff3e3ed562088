/** Which entries a change of an object gives, what is missing after a crash, and which user did it. */
import type { KubeObject, LedgerEntry } from "@lifeboat/api";
import { addMs, formatTime } from "@lifeboat/base";
import { describe, expect, it, test } from "vitest";
import { FENCED, LAST_ACT, REASON } from "../well-known.ts";
import { isStamped, stampAct } from "./act.ts";
import { entriesBetween, foldEntries, missingEntries } from "./entries.ts";
import { binding, cluster, evacuation, NOW, withAnnotations } from "./makers.suite.ts";
import { ledgerActions } from "./reasons.ts";
import { entrySentence } from "./sentence.ts";

function told(old: KubeObject | undefined, now: KubeObject | undefined): readonly string[] {
  return entriesBetween(old, now, NOW).map(entrySentence);
}

function budget(spec: object): KubeObject {
  const metadata = { name: "fleet", uid: "f" };
  return { apiVersion: "lifeboat.dev/v1alpha1", kind: "EvacuationBudget", metadata, spec } as never;
}

const ON_ONE = binding([["eu-1", 2]]);
const held = {
  held: [{ binding: { namespace: "shop", name: "web-deployment", uid: "b1" }, reason: "NoTarget" }],
};

describe("a change that was seen", () => {
  test.each<[string, KubeObject | undefined, KubeObject | undefined, readonly string[]]>([
    ["a workload is placed", binding([]), ON_ONE, ["deployment shop/web runs on eu-1:2"]],
    [
      "a workload is evicted, with its state",
      ON_ONE,
      binding([], ["eu-1"]),
      ["deployment shop/web leaves eu-1 (TaintUntolerated, Gracefully, with job=7)"],
    ],
    [
      "and placed elsewhere",
      binding([], ["eu-1"]),
      binding([["eu-2", 2]], ["eu-1"]),
      ["deployment shop/web runs on eu-2:2"],
    ],
    [
      "and its old copy is gone",
      binding([["eu-2", 2]], ["eu-1"]),
      binding([["eu-2", 2]]),
      ["deployment shop/web has left eu-1"],
    ],
    [
      "the eviction is taken back",
      binding([], ["eu-1"]),
      ON_ONE,
      ["deployment shop/web stays on eu-1 after all"],
    ],
    [
      "and its old copy is given up before it is placed, as after a fence",
      binding([], ["eu-1"]),
      binding([]),
      ["deployment shop/web has left eu-1"],
    ],
    ["its result is taken away", ON_ONE, binding([]), ["deployment shop/web runs on no cluster"]],
    ["it waits for its first result", binding([], [], { generation: 1 }), binding([]), []],
    ["a workload is deleted", ON_ONE, undefined, ["deployment shop/web was removed"]],
    ["its copies report", ON_ONE, { ...ON_ONE, status: {} } as KubeObject, []],
    [
      "a cluster fails",
      cluster("True"),
      cluster("False"),
      ["eu-1 failed: Ready is False (Probed)"],
    ],
    ["a cluster recovers", cluster("Unknown"), cluster("True"), ["eu-1 is ready"]],
    [
      "a taint comes and another goes",
      cluster("True", ["old"]),
      cluster("True", ["new"]),
      ["eu-1 lost the taint old:NoExecute", "eu-1 got the taint new:NoExecute"],
    ],
    ["a cluster leaves", cluster("True", ["old"]), undefined, ["eu-1 left the fleet"]],
    [
      "a cluster is fenced",
      cluster("False"),
      withAnnotations(cluster("False"), { [FENCED]: "{}" }),
      ["eu-1 was declared off"],
    ],
    [
      "an evacuation begins",
      undefined,
      evacuation(),
      ["evacuation eu-1-1 of eu-1 begins, 3 workloads"],
    ],
    [
      "a workload is held",
      evacuation(),
      evacuation({}, held),
      ["deployment shop/web is held on eu-1, NoTarget"],
    ],
    ["a workload is held no more", evacuation({}, held), evacuation(), []],
    [
      "a person pauses it",
      evacuation(),
      evacuation({ paused: true }),
      ["evacuation eu-1-1 was paused"],
    ],
    [
      "and lets it go on",
      evacuation({ paused: true }),
      evacuation(),
      ["evacuation eu-1-1 goes on"],
    ],
    [
      "a person approves it",
      evacuation(),
      evacuation({ approvals: [{ at: "2026-01-01T12:00:00Z", reason: "seen" }] }),
      ["evacuation eu-1-1 was approved (seen)"],
    ],
    [
      "a person pauses a cluster, and sets the rate",
      budget({}),
      budget({
        pausedClusters: ["eu-1"],
        rateOverride: { perSecond: 2, setAt: "2026-01-01T12:00:00Z", until: "U", reason: "R" },
      }),
      ["evacuations of cluster eu-1 were paused", "the rate was set to 2 per second until U: R"],
    ],
    [
      "one that ended is opened again when its cluster recovers",
      evacuation({}, { finishedAt: "2026-01-01T12:00:00Z", entries: { total: 1, done: 1 } }),
      evacuation(
        {},
        { taints: [{ recorded: true, removedAt: "x" }], entries: { total: 1, done: 1 } },
      ),
      [],
    ],
    ["a record is pruned", evacuation({ paused: true }), undefined, []],
  ])("%s", (_name, old, now, expected) => {
    expect(told(old, now)).toEqual(expected);
  });

  it("is told by words of the table alone", () => {
    const all = [
      ...entriesBetween(undefined, cluster("False", ["a"]), NOW),
      ...entriesBetween(undefined, evacuation({ paused: true }, held), NOW),
      ...entriesBetween(undefined, ON_ONE, NOW),
    ];
    for (const { action } of all) expect(Object.keys(ledgerActions)).toContain(action);
    expect(all.length).toBeGreaterThan(5);
  });

  it("of an object that took the name of another tells the end of the first", () => {
    const other = binding([["eu-1", 2]], [], { uid: "b2" });
    expect(told(ON_ONE, other)).toEqual([
      "deployment shop/web was removed",
      "deployment shop/web runs on eu-1:2",
    ]);
  });

  it("of very many clusters stays short, and is told all the same", () => {
    const many = Array.from({ length: 1000 }, (_, i) => [`member${i}`, 1] as const);
    const old = binding(many);
    const [entry] = entriesBetween(old, binding(many.slice(1), ["member0"]), NOW);
    expect(entry).toMatchObject({ action: "Evicted", cluster: "member0" });
    expect(JSON.stringify(entry).length).toBeLessThan(2000);
  });
});

describe("what is missing after a crash", () => {
  const written = [
    ...entriesBetween(undefined, cluster("True"), NOW),
    ...entriesBetween(undefined, ON_ONE, NOW),
  ];
  const view = (objects: readonly KubeObject[]) => ({
    known: foldEntries(written),
    horizon: NOW,
    objects,
  });
  const later = addMs(NOW, 60_000);

  it("is nothing when nothing happened", () => {
    expect(missingEntries(view([cluster("True"), ON_ONE]), later)).toEqual([]);
  });

  it("is the difference to the objects, with the times that these tell", () => {
    const failed = cluster("False", ["down"]);
    const moved = binding([["eu-2", 2]], ["eu-1"]);
    const missing = missingEntries(view([failed, moved]), later);
    expect(missing.map(entrySentence)).toEqual([
      "eu-1 failed: Ready is False (Probed)",
      "eu-1 got the taint down:NoExecute",
      "deployment shop/web leaves eu-1 (TaintUntolerated, Gracefully, with job=7)",
      "deployment shop/web runs on eu-2:2",
    ]);
    expect(missing.every(({ at }) => at.startsWith("2026-01-01T12:00:00"))).toBe(true);
  });

  it("is that a workload left its cluster and is placed nowhere yet, once", () => {
    const before = [...written, ...entriesBetween(ON_ONE, binding([], ["eu-1"]), NOW)];
    const objects = [cluster("True"), binding([])];
    const missing = missingEntries({ known: foldEntries(before), horizon: NOW, objects }, later);
    expect(missing.map(entrySentence)).toEqual(["deployment shop/web has left eu-1"]);
    const known = foldEntries([...before, ...missing]);
    expect(missingEntries({ known, horizon: NOW, objects }, later)).toEqual([]);
    const placed = [
      cluster("True"),
      binding([["eu-2", 2]], [], { creationTimestamp: "2026-01-01T12:00:30Z" }),
    ];
    expect(
      missingEntries({ known, horizon: NOW, objects: placed }, later).map(entrySentence),
    ).toEqual(["deployment shop/web runs on eu-2:2"]);
  });

  it("is the end of what is gone", () => {
    expect(missingEntries(view([cluster("True")]), later).map(entrySentence)).toEqual([
      "deployment shop/web was removed",
    ]);
  });

  it("is nothing that was there long before the history began", () => {
    const old = binding([["eu-1", 1]], [], {
      uid: "old",
      creationTimestamp: "2025-01-01T00:00:00Z",
    });
    expect(missingEntries(view([cluster("True"), ON_ONE, old]), later)).toEqual([]);
    const none = { known: new Map(), horizon: undefined, objects: [ON_ONE] };
    expect(missingEntries(none, later)).toEqual([]);
  });
});

describe("the user", () => {
  const tainted = cluster("True", ["mine"]);

  it("of an act is stamped with the reason, and stands in the entry of that act alone", () => {
    const sent = withAnnotations(tainted, { [REASON]: "upgrade" });
    const after = stampAct(cluster("True"), sent, "alice", NOW);
    expect(after.metadata.annotations).not.toHaveProperty(REASON);
    expect(entriesBetween(cluster("True"), after, NOW)).toMatchObject([
      { action: "Tainted", by: "alice", reason: "upgrade" },
    ]);
    const failed = { ...after, status: cluster("False").status } as KubeObject;
    const [entry] = entriesBetween(after, failed, NOW);
    expect(entry).toMatchObject({ action: "NotReady" });
    expect(entry).not.toHaveProperty("by");
  });

  it("who lets a workload stay is told, with the reason", () => {
    const web = { kind: "ResourceBinding", namespace: "shop", name: "web-deployment", uid: "b" };
    const sent = withAnnotations(evacuation({ takenOut: [web] }), { [REASON]: "it is well" });
    const after = stampAct(evacuation(), sent, "alice", NOW);
    const [entry] = entriesBetween(evacuation(), after, NOW);
    expect(entry).toMatchObject({ by: "alice", reason: "it is well", workload: { name: "web" } });
  });

  it("of an act that took something away is told", () => {
    const after = stampAct(tainted, cluster("True"), "alice", NOW);
    expect(entriesBetween(tainted, after, NOW)).toMatchObject([
      { action: "Untainted", by: "alice" },
    ]);
  });

  it("cannot be forged, nor erased by a write that changes nothing", () => {
    const stamp = JSON.stringify({ by: "bob", at: formatTime(NOW), facts: ["joined=yes"] });
    const forged = withAnnotations(cluster("True"), { [LAST_ACT]: stamp });
    expect(stampAct(cluster("True"), forged, "alice", NOW).metadata.annotations).toEqual({});
    expect(stampAct(forged, cluster("True"), "alice", NOW).metadata.annotations).toEqual({
      [LAST_ACT]: stamp,
    });
  });

  it("changes nothing where there is nothing to change", () => {
    expect(stampAct(tainted, tainted, "alice", NOW)).toBe(tainted);
  });

  test.each([
    ["Cluster", "alice", true],
    ["ResourceBinding", "system:serviceaccount:argocd:argocd", true],
    ["Deployment", "alice", false],
    ["Cluster", "system:lifeboat", false],
    ["Cluster", "system:karmada:agent:eu-1", false],
    ["Cluster", "system:serviceaccount:lifeboat-system:lifeboat-manager", false],
  ])("%s by %s is stamped: %s", (kind, user, expected) => {
    expect(isStamped(kind, user)).toBe(expected);
  });

  it("is short, whatever it is", () => {
    const sent = withAnnotations(tainted, { [REASON]: "x".repeat(100_000) });
    const after = stampAct(cluster("True"), sent, "u".repeat(10_000), NOW);
    expect(after.metadata.annotations?.[LAST_ACT]?.length).toBeLessThan(1500);
  });
});

it("a reason stands in a sentence once", () => {
  const approved: LedgerEntry = {
    at: "2026-01-01T12:00:00Z",
    action: "Approved",
    subject: { kind: "Evacuation", name: "eu-1-1", uid: "u" },
    fact: "approval",
    evacuation: "eu-1-1",
    by: "ann",
    reason: "seen",
  };
  expect(entrySentence(approved)).toBe("evacuation eu-1-1 was approved, by ann: seen");
  expect(entrySentence({ ...approved, message: "seen" })).toBe(
    "evacuation eu-1-1 was approved (seen), by ann",
  );
});
