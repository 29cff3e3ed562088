import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import {
  appliedVersions,
  type ApplyOutcome,
  decideWorkStatus,
  hasBeenHealthy,
  type ManifestReport,
  type ReportedStatus,
  type WorkStatusView,
} from "./work-status.ts";

const NOW = instantOf(1_000_000);
const later = (ms: number) => instantOf(1_000_000 + ms);
const manifest = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "default", name: "web" },
};
const applied: ApplyOutcome = { kind: "applied", version: "u/gen:1", recreated: false };
const report = (changes: Partial<ManifestReport> = {}): ManifestReport => ({
  manifest,
  outcome: applied,
  reflection: { status: { replicas: 1 }, health: "Healthy" },
  ...changes,
});
const view = (changes: Partial<WorkStatusView> = {}): WorkStatusView => ({
  cluster: "m1",
  generation: 1,
  status: {},
  suspended: false,
  reports: [report()],
  ...changes,
});
const written = (given: WorkStatusView): ReportedStatus => {
  const [command] = decideWorkStatus(given, NOW).commands;
  if (command === undefined) throw new Error("nothing was written");
  return command.status;
};
const reasonsOf = (given: WorkStatusView): readonly string[] =>
  decideWorkStatus(given, NOW).events.map(({ reason }) => reason);
const conditionOf = (status: ReportedStatus, type: string) =>
  status.conditions?.find((condition) => condition.type === type);
const REPORTED = written(view());

describe("decideWorkStatus", () => {
  it("reports everything once, and nothing when nothing changed", () => {
    expect(REPORTED.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      "Applied=True",
      "Dispatching=True",
      "StatusObserved=True",
    ]);
    expect(reasonsOf(view())).toEqual([
      "WorkDispatching",
      "SyncSucceed",
      "ReflectStatusSucceed",
      "InterpretHealthSucceed",
    ]);
    const again = decideWorkStatus(view({ status: REPORTED }), later(60_000));
    expect(again).toMatchObject({ reason: "AsReported", commands: [], events: [] });
  });

  it("reports at once that a copy is bad, and after a second that it is well again", () => {
    const said = (health: "Healthy" | "Unhealthy", after: number) =>
      decideWorkStatus(
        view({
          status: written(view({ reports: [flapping(health === "Healthy")] })),
          reports: [flapping(health !== "Healthy")],
          writtenAt: NOW,
        }),
        later(after),
      ).reason;
    const flapping = (isBad: boolean): ManifestReport =>
      report({ reflection: { status: {}, health: isBad ? "Unhealthy" : "Healthy" } });
    expect(said("Unhealthy", 1)).toBe("StatusChanged");
    expect(said("Healthy", 999)).toBe("CountersHeldBack");
    expect(said("Healthy", 1000)).toBe("StatusChanged");
  });

  it("17.12: remembers that a copy was healthy from when it is not any more, with no write of its own", () => {
    const bad = report({ reflection: { status: {}, health: "Unhealthy" } });
    const unknown = report({ reflection: { health: "Unknown" } });
    expect(conditionOf(REPORTED, "HasBeenHealthy")).toBeUndefined();
    expect(hasBeenHealthy(REPORTED)).toBe(true);
    for (const worse of [bad, unknown]) {
      const after = written(view({ status: REPORTED, reports: [worse] }));
      expect(conditionOf(after, "HasBeenHealthy")).toMatchObject({ status: "True" });
      expect(hasBeenHealthy(after)).toBe(true);
      const still = written(view({ status: after, generation: 2, reports: [bad, worse] }));
      expect(hasBeenHealthy(still)).toBe(true);
      const well = written(view({ status: after }));
      expect(conditionOf(well, "HasBeenHealthy")).toEqual(conditionOf(after, "HasBeenHealthy"));
    }
    const never = written(view({ reports: [bad] }));
    expect(hasBeenHealthy(never)).toBe(false);
    expect(hasBeenHealthy(written(view({ status: never, reports: [unknown] })))).toBe(false);
    expect(hasBeenHealthy({})).toBe(false);
    expect(hasBeenHealthy(undefined)).toBe(false);
    expect(hasBeenHealthy({ manifestStatuses: [] })).toBe(false);
  });

  it("waits a second before it contradicts another process that contradicted it", () => {
    const failed = report({ outcome: { kind: "failed", problem: "no" } });
    const theirs = written(view({ reports: [failed] }));
    const given = view({ status: theirs, writtenAt: NOW, reported: REPORTED });
    expect(decideWorkStatus(given, later(999))).toMatchObject({
      reason: "ContradictionHeldBack",
      checkAgainAt: later(1000),
    });
    expect(decideWorkStatus(given, later(1000)).reason).toBe("StatusChanged");
    expect(decideWorkStatus({ ...given, generation: 2 }, later(1)).reason).toBe("StatusChanged");
    const news = { ...given, reported: theirs };
    expect(decideWorkStatus(news, later(1)).reason).toBe("StatusChanged");
  });

  it("keeps no status that is larger than any has a reason to be, and reports it", () => {
    const huge = { text: "x".repeat(300_000) };
    const status = written(
      view({ reports: [report({ reflection: { status: huge, health: "Healthy" } })] }),
    );
    expect(JSON.stringify(status).length).toBeLessThan(2000);
    expect(conditionOf(status, "StatusObserved")).toMatchObject({
      status: "False",
      reason: "ReflectStatusFailed",
      message: "The status is larger than 256 KiB.",
    });
  });

  it("holds numbers back for a second, and nothing else", () => {
    const moved = [report({ reflection: { status: { replicas: 2 }, health: "Healthy" } })];
    const given = view({ status: REPORTED, reports: moved, writtenAt: NOW });
    expect(decideWorkStatus(given, later(999))).toMatchObject({
      reason: "CountersHeldBack",
      commands: [],
      checkAgainAt: later(1000),
    });
    expect(decideWorkStatus(given, later(1000))).toMatchObject({
      reason: "CountersMoved",
      commands: [{ kind: "writeStatus" }],
      events: [],
    });
    const sick = [report({ reflection: { status: { replicas: 2 }, health: "Unhealthy" } })];
    expect(decideWorkStatus({ ...given, reports: sick }, later(1))).toMatchObject({
      reason: "StatusChanged",
      events: [
        {
          reason: "InterpretHealthSucceed",
          message: "Interpret health of Deployment(default/web) as unhealthy.",
        },
      ],
    });
  });

  it("moves both generations only by what was applied and seen", () => {
    const next = written(view({ status: REPORTED, generation: 2 }));
    expect(conditionOf(next, "Applied")).toMatchObject({ observedGeneration: 2 });
    expect(conditionOf(next, "StatusObserved")).toMatchObject({ observedGeneration: 2 });
    const failed = [report({ outcome: { kind: "failed", problem: "no" } })];
    const refused = written(view({ status: REPORTED, generation: 2, reports: failed }));
    expect(conditionOf(refused, "Applied")).toMatchObject({
      status: "False",
      observedGeneration: 2,
      message: "Failed to apply all manifests (0/1): no",
    });
    expect(conditionOf(refused, "StatusObserved")).toMatchObject({ observedGeneration: 1 });
  });

  it("changes nothing that was observed when the member does not answer", () => {
    const silent = [report({ outcome: { kind: "unknown", problem: "?" }, reflection: undefined })];
    const given = view({ status: REPORTED, reports: silent });
    expect(decideWorkStatus(given, NOW).reason).toBe("AsReported");
    const next = written({ ...given, generation: 2 });
    expect(conditionOf(next, "Applied")).toMatchObject({ status: "False", observedGeneration: 2 });
    expect(conditionOf(next, "StatusObserved")).toEqual(conditionOf(REPORTED, "StatusObserved"));
    expect(next.manifestStatuses).toEqual(REPORTED.manifestStatuses);
  });

  it("leaves Applied as it is while suspended, and reports on", () => {
    const sick = { status: {}, health: "Unhealthy" } as const;
    const reports = [report({ outcome: { kind: "suspended" }, reflection: sick })];
    const given = view({ status: REPORTED, generation: 2, suspended: true, reports });
    const status = written(given);
    expect(conditionOf(status, "Applied")).toEqual(conditionOf(REPORTED, "Applied"));
    expect(conditionOf(status, "StatusObserved")).toEqual(conditionOf(REPORTED, "StatusObserved"));
    expect(status.manifestStatuses).toMatchObject([{ health: "Unhealthy" }]);
    expect(reasonsOf(given)).toEqual(["WorkDispatching", "InterpretHealthSucceed"]);
  });

  it("counts several manifests together", () => {
    const problem = (text: string) => report({ outcome: { kind: "failed", problem: text } });
    const reports = [report(), problem("a"), problem("b")];
    expect(conditionOf(written(view({ reports })), "Applied")?.message).toBe(
      "Failed to apply all manifests (1/3): [a, b]",
    );
    expect(conditionOf(written(view({ reports })), "StatusObserved")).not.toHaveProperty(
      "observedGeneration",
    );
  });

  it("keeps what members report within bounds", () => {
    const reports = [report({ outcome: { kind: "failed", problem: "x".repeat(1_000_000) } })];
    expect(conditionOf(written(view({ reports })), "Applied")?.message.length).toBeLessThan(1100);
  });

  it("reports that a copy was made again, once", () => {
    const reports = [report({ outcome: { ...applied, recreated: true } })];
    const status = written(view({ status: REPORTED, reports }));
    expect(conditionOf(status, "Applied")).toMatchObject({ reason: "ReCreateSuccessful" });
    expect(decideWorkStatus(view({ status }), NOW).reason).toBe("AsReported");
  });

  it("reports that an object of another writer was overwritten, once, also when a copy was there before", () => {
    const reports = [report({ outcome: { ...applied, takenOver: true } })];
    for (const status of [{}, REPORTED]) {
      const plan = decideWorkStatus(view({ status, reports }), NOW);
      expect(plan.events).toContainEqual(
        expect.objectContaining({ reason: "ObjectOverwritten", concernsTemplates: true }),
      );
      const [command] = plan.commands;
      expect(decideWorkStatus(view({ status: command?.status ?? {}, reports }), NOW).reason).toBe(
        "AsReported",
      );
    }
  });

  it.each([["a text"], [7], [null], [["list"]], [undefined]])(
    "leaves out a status that is no object: %j",
    (status) => {
      const reports = [report({ reflection: { status, health: "Healthy" } })];
      expect(written(view({ reports })).manifestStatuses?.[0]).not.toHaveProperty("status");
    },
  );

  it("keeps the conditions of others", () => {
    const theirs = {
      type: "Theirs",
      status: "True",
      reason: "R",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    } as const;
    expect(written(view({ status: { conditions: [theirs] } })).conditions?.[0]).toEqual(theirs);
  });
});

it("remembers in the status which versions the member answered, for that generation only", () => {
  const second = { kind: "applied", version: "v/rv:7", recreated: false } as const;
  const status = written(view({ reports: [report(), report({ outcome: second })] }));
  expect(appliedVersions(1, status)).toEqual(["u/gen:1", "v/rv:7"]);
  expect(appliedVersions(2, status)).toBeUndefined();
  expect(appliedVersions(1, {})).toBeUndefined();
});
