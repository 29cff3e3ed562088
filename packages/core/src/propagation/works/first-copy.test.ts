import type { Cluster, ResourceBinding, Work } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { ENDORSED } from "../../well-known.ts";
import { decideWorks, type WorksPlan, type WorksView } from "./decide-works.ts";
import {
  endorsementOf,
  type FirstCopyVerdict,
  isEndorsed,
  judgeFirstCopy,
  withdrawn,
} from "./first-copy.ts";
import { binding, cluster, told, view, workIn } from "./works.suite.ts";

const on = (...names: string[]) => ({ clusters: names.map((name) => ({ name })) });
const left = (purgeMode: "Directly" | "Gracefully", suppressDeletion?: boolean) => ({
  gracefulEvictionTasks: [
    {
      fromCluster: "a",
      reason: "TaintUntolerated",
      producer: "test",
      purgeMode,
      ...(suppressDeletion === undefined ? {} : { suppressDeletion }),
    },
  ],
});
const byHand = (): Work => ({
  ...workIn("a"),
  metadata: { ...workIn("a").metadata, annotations: {} },
});

function inMode(syncMode: "Push" | "Pull", supported?: "True" | "False"): Cluster {
  const condition = { type: "AgentSupported", reason: "", message: "", lastTransitionTime: "" };
  const conditions = supported === undefined ? [] : [{ ...condition, status: supported }];
  return { ...cluster("a"), spec: { syncMode }, status: { conditions } };
}

describe("a Work that was never tried", () => {
  it.each<readonly [string, FirstCopyVerdict, ResourceBinding | undefined, Work]>([
    ["is wanted in a cluster of the result", "wanted", binding(on("a")), workIn("a")],
    [
      "is wanted where a workload needs it",
      "wanted",
      binding({ requiredBy: [{ name: "x", ...on("a") }] }),
      workIn("a"),
    ],
    ["is not wanted elsewhere", "unwanted", binding(on("b")), workIn("a")],
    ["nor in a cluster that is left", "unwanted", binding(left("Gracefully")), workIn("a")],
    ["nor in one that is purged", "unwanted", binding(left("Directly")), workIn("a")],
    [
      "nor where a person keeps the old copy",
      "unwanted",
      binding(left("Directly", true)),
      workIn("a"),
    ],
    ["is an orphan without its binding", "orphaned", undefined, workIn("a")],
    ["is wanted when it names no binding", "wanted", undefined, byHand()],
  ])("%s", (_name, verdict, of, work) => {
    expect(judgeFirstCopy({ cluster: "a", work, binding: of })).toBe(verdict);
  });
});

describe("an endorsement", () => {
  const endorsed = workIn("a", { annotations: { [ENDORSED]: "uid-a" } });
  it.each<readonly [string, boolean, Work]>([
    ["is the uid of the Work", true, endorsed],
    ["is needed", false, workIn("a")],
    ["of an earlier Work counts nothing", false, workIn("a", { annotations: { [ENDORSED]: "x" } })],
    ["of a Work that goes counts nothing", false, going(endorsed)],
    ["is not needed without a binding", true, byHand()],
    ["makes no first copy of a Work by hand that goes", false, going(byHand())],
  ])("%s", (_name, expected, work) => {
    expect(isEndorsed(work)).toBe(expected);
  });

  const of = binding(on("a"));
  const given = { annotations: { [ENDORSED]: "uid-a" } };
  it.each([
    ["is given to no Work of an agent that is not known yet", undefined, workIn("a"), undefined],
    ["is given to no Work of an agent that does not know it", "False", workIn("a"), undefined],
    ["stays while the agent is not known", undefined, workIn("a", given), "uid-a"],
    ["is taken from an agent that does not know it", "False", workIn("a", given), undefined],
    [
      "stays on a Work that was tried, whatever the agent knows",
      "False",
      workIn("a", { health: "Healthy", ...given }),
      "uid-a",
    ],
  ] as const)("%s", (_name, supported, work, expected) => {
    const asked = { cluster: "a", work, binding: of };
    expect(endorsementOf(asked, inMode("Pull", supported))).toBe(expected);
  });

  it.each([
    ["is given to a Work of a Pull cluster", "Pull", workIn("a"), "uid-a"],
    ["is given to no Work of a Push cluster", "Push", workIn("a"), undefined],
    [
      "costs no write for a Work that was tried",
      "Pull",
      workIn("a", { health: "Healthy" }),
      undefined,
    ],
    [
      "stays on a Work that was tried since",
      "Pull",
      workIn("a", { health: "Healthy", annotations: { [ENDORSED]: "uid-a" } }),
      "uid-a",
    ],
    [
      "of an earlier Work is replaced",
      "Pull",
      workIn("a", { annotations: { [ENDORSED]: "x" } }),
      "uid-a",
    ],
  ] as const)("%s", (_name, mode, work, expected) => {
    const asked = { cluster: "a", work, binding: of };
    expect(endorsementOf(asked, inMode(mode, "True"))).toBe(expected);
  });

  it("is withdrawn without another change", () => {
    expect(withdrawn(endorsed)).toEqual(workIn("a"));
    const bare = workIn("a");
    expect(withdrawn(bare)).toBe(bare);
  });
});

describe("the Works of a Pull cluster", () => {
  const endorsed = workIn("a", { annotations: { [ENDORSED]: "uid-a" } });
  const pull = inMode("Pull", "True");
  const decided = (changes: Partial<WorksView>): WorksPlan =>
    decideWorks(
      view({
        clusters: new Map([
          ["a", pull],
          ["b", cluster("b")],
        ]),
        ...changes,
      }),
    );
  const endorsementIn = ({ commands }: WorksPlan): unknown => {
    const [command] = commands;
    if (command?.kind !== "update") return command?.kind;
    return command.work.metadata.annotations?.[ENDORSED] ?? "none";
  };

  it("are made without an endorsement, because a request may arrive late", () => {
    const [made] = decided({ binding: binding(on("a")) }).commands;
    expect(made).toMatchObject({ kind: "create" });
    expect(JSON.stringify(made)).not.toContain(ENDORSED);
  });
  it.each([
    ["not known yet", undefined, []],
    ["without knowledge of endorsement", "False", [{ cluster: "a", reason: "AgentUnsupported" }]],
  ] as const)("are not made for an agent %s", (_name, supported, failures) => {
    const clusters = new Map([["a", inMode("Pull", supported)]]);
    const plan = decided({ binding: binding(on("a")), clusters });
    expect(plan.commands).toEqual([]);
    expect(plan.failures).toMatchObject(failures);
    // What is there is kept current.
    const kept = decided({ binding: binding(on("a")), clusters, works: [workIn("a")] });
    expect(kept.commands.filter(({ kind }) => kind !== "update")).toEqual([]);
  });
  it("are endorsed by one write, once they are on the server", () => {
    const plan = decided({ binding: binding(on("a")), works: [workIn("a")] });
    expect(plan.commands).toMatchObject([{ kind: "update", endorses: true }]);
    expect(endorsementIn(plan)).toBe("uid-a");
    expect(told(decided({ binding: binding(on("a")), works: [endorsed] }))).toEqual([]);
  });
  it.each([
    ["left gracefully", binding({ ...on("b"), ...left("Gracefully") })],
    ["purged", binding({ ...on("b"), ...left("Directly") })],
    ["taken out of the policy", binding(on("b"))],
  ])("lose it in the pass that finds their cluster %s", (_name, of) => {
    const works = [endorsed, workIn("b")];
    const plan = decided({ binding: of, works });
    expect(endorsementIn(plan)).toBe("none");
    expect(plan.commands.some((command) => "endorses" in command)).toBe(false);
  });
  it("lose it also while the template cannot be read", () => {
    const plan = decided({ binding: binding(on("b")), works: [endorsed], template: undefined });
    expect(endorsementIn(plan)).toBe("none");
  });
  it("lose it also where a workload still needs the resource", () => {
    const neededIn = new Set(["a"]);
    const plan = decided({ binding: binding(on("b")), works: [endorsed], neededIn });
    expect(endorsementIn(plan)).toBe("none");
  });
  it("cost no write of its own once they were tried", () => {
    const tried = workIn("a", { health: "Unhealthy", annotations: { [ENDORSED]: "uid-a" } });
    const plan = decided({
      binding: binding(on("b")),
      works: [tried, workIn("b", { health: "Healthy" })],
    });
    expect(told(plan)).toEqual(["delete a Descheduled"]);
  });
  it("lose it when the cluster is reached by Push again", () => {
    const clusters = new Map([["a", cluster("a")]]);
    expect(endorsementIn(decided({ binding: binding(on("a")), works: [endorsed], clusters }))).toBe(
      "none",
    );
  });
});

function going(work: Work): Work {
  return { ...work, metadata: { ...work.metadata, deletionTimestamp: "2026-01-01T00:01:00Z" } };
}
