import fc from "fast-check";
import { addMs } from "@lifeboat/base";
import { expect, it } from "vitest";
import type { Job, Pod } from "../kinds.ts";
import { decideJob } from "./job.ts";
import { job, NOW, type PodState, pod } from "./objects.suite.ts";
import { isActive } from "./pods.ts";
import { isTrue } from "./status.ts";

const made = (states: readonly PodState[]): Pod[] => states.map((state, i) => pod(`p${i}`, state));

it.each<{
  name: string;
  spec: Partial<Job["spec"]>;
  pods: PodState[];
  create?: number;
  remove?: number;
  condition?: string;
}>([
  {
    name: "starts as many as may run",
    spec: { parallelism: 2, completions: 5 },
    pods: [],
    create: 2,
  },
  {
    name: "starts no more than are missing",
    spec: { parallelism: 9, completions: 2 },
    pods: ["succeeded"],
    create: 1,
  },
  { name: "completes", spec: { completions: 1 }, pods: ["succeeded"], condition: "Complete" },
  {
    name: "without completions waits for the others",
    spec: { parallelism: 2 },
    pods: ["succeeded", "ready"],
  },
  {
    name: "without completions ends with the last",
    spec: { parallelism: 2 },
    pods: ["succeeded", "failed"],
    condition: "Complete",
  },
  { name: "waits after a failure", spec: { completions: 1 }, pods: ["failed"] },
  {
    name: "stops the rest when it fails",
    spec: { backoffLimit: 0, parallelism: 2, completions: 2 },
    pods: ["failed", "ready"],
    remove: 1,
    condition: "FailureTarget",
  },
  {
    name: "fails when the rest is gone",
    spec: { backoffLimit: 0, completions: 1 },
    pods: ["failed"],
    condition: "Failed",
  },
  {
    name: "stops when it is suspended",
    spec: { suspend: true, completions: 1 },
    pods: ["ready"],
    remove: 1,
    condition: "Suspended",
  },
  {
    name: "takes away what is too many",
    spec: { parallelism: 1, completions: 3 },
    pods: ["ready", "ready"],
    remove: 1,
  },
])("$name", ({ spec, pods, create = 0, remove = 0, condition }) => {
  const plan = decideJob(job(spec), made(pods), NOW);
  expect(plan.create).toHaveLength(create);
  expect(plan.remove).toHaveLength(remove);
  if (condition !== undefined) expect(isTrue(plan.status.conditions, condition)).toBe(true);
  else expect(plan.status.conditions ?? []).toEqual([]);
});

it("tries again ten seconds after the first failure", () => {
  const plan = decideJob(job({ completions: 1 }), made(["failed"]), NOW);
  expect(plan.checkAgainAt).toBe(addMs(NOW, 10_000));
  expect(
    decideJob(job({ completions: 1 }), made(["failed"]), addMs(NOW, 10_000)).create,
  ).toHaveLength(1);
});

it("fails at its deadline", () => {
  const subject = job({ completions: 1, activeDeadlineSeconds: 5 });
  const running = decideJob(subject, made(["ready"]), NOW);
  expect(running.checkAgainAt).toBe(addMs(NOW, 5000));
  const late = decideJob({ ...subject, status: running.status }, made(["ready"]), addMs(NOW, 5000));
  expect(late.remove).toHaveLength(1);
  expect(late.status.conditions?.[0]).toMatchObject({ reason: "DeadlineExceeded" });
});

it("leaves what has ended as it is, until its time is up", () => {
  const done = decideJob(
    job({ completions: 1, ttlSecondsAfterFinished: 60 }),
    made(["succeeded"]),
    NOW,
  );
  const ended = job({ completions: 1, ttlSecondsAfterFinished: 60 }, done.status);
  const later = decideJob(ended, [], addMs(NOW, 59_000));
  expect(later).toMatchObject({
    status: done.status,
    expired: false,
    checkAgainAt: addMs(NOW, 60_000),
  });
  expect(decideJob(ended, [], addMs(NOW, 60_000)).expired).toBe(true);
});

it("writes the indexes that are done as ranges", () => {
  const indexed = (index: number): Pod =>
    pod(`p${index}`, "succeeded", {
      annotations: { "batch.kubernetes.io/job-completion-index": String(index) },
    });
  const subject = job({ completions: 9, parallelism: 9, completionMode: "Indexed" });
  const plan = decideJob(subject, [0, 1, 2, 5, 7, 8].map(indexed), NOW);
  expect(plan.status.completedIndexes).toBe("0-2,5,7-8");
  expect(plan.create.map(({ spec }) => spec.hostname)).toEqual(["sum-3", "sum-4", "sum-6"]);
});

it("never runs more than may run at once, nor more than are missing", () => {
  const state = fc.constantFrom<PodState>("pending", "ready", "leaving", "succeeded", "failed");
  fc.assert(
    fc.property(
      fc.array(state, { maxLength: 8 }),
      fc.nat(6),
      fc.nat(6),
      (states, parallelism, completions) => {
        const pods = made(states);
        const plan = decideJob(job({ parallelism, completions, backoffLimit: 99 }), pods, NOW);
        if (isTrue(plan.status.conditions, "Complete")) return;
        const running = pods.filter(isActive).length + plan.create.length - plan.remove.length;
        const succeeded = states.filter((item) => item === "succeeded").length;
        expect(running).toBeLessThanOrEqual(Math.min(parallelism, completions - succeeded));
      },
    ),
  );
});
