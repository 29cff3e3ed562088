/** Notices arrive in order, once, over crashes, lost answers and receivers that are away. */
import {
  clusters,
  configMaps,
  evacuationBudgets,
  type New,
  type EvacuationBudget,
  setCondition,
} from "@lifeboat/api";
import { type Answer, NOTICE_EVENTS, type NoticeEvent } from "@lifeboat/core/notifications";
import { createPromMetrics } from "@lifeboat/kit/adapters";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createHistory } from "../history/create-history.ts";
import {
  createNotifications,
  NOTIFICATIONS_KEY,
  readNotifications,
} from "./create-notifications.ts";

const OK: Answer = { kind: "answered", code: 200, text: "ok" };

interface Received {
  readonly id: string;
  readonly event: NoticeEvent;
  readonly summary: string;
}

let fleet: Fleet;
let received: Received[];
/** What the receiver answers; "never": it does not. */
let answers: (attempt: number) => Answer | "never";
let attempts: number;
let metrics: ReturnType<typeof createPromMetrics>;

beforeEach(async () => {
  received = [];
  attempts = 0;
  answers = () => OK;
  metrics = createPromMetrics();
  await start();
});
afterEach(() => fleet.close());

async function start(): Promise<void> {
  fleet = await createFleet({
    memberModel: false,
    services: (context) => [
      createHistory(context),
      createNotifications(
        { ...context, metrics },
        {
          deliver,
          destination: "json to example.com",
          template: { id: "{{id}}", event: "{{event}}", summary: "{{summary}}" },
          events: new Set(NOTICE_EVENTS),
          plane: "test",
        },
        { trustFencedCondition: false },
      ),
    ],
  });
  await join("m1");
  await report("m1", "True");
  await fleet.advance("20s");
}

function deliver(body: string, id: string, signal: AbortSignal): Promise<Answer> {
  const answer = answers(++attempts);
  if (answer === "never")
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve({ kind: "failed", message: "aborted" }));
    });
  const notice = JSON.parse(body) as Received;
  expect(notice.id).toBe(id);
  if (answer.kind === "answered" && answer.code === 200) received.push(notice);
  return Promise.resolve(answer);
}

async function join(name: string): Promise<void> {
  await fleet.plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push" },
  });
}

async function report(name: string, status: "True" | "False"): Promise<void> {
  const cluster = await fleet.plane.get(clusters, { namespace: "", name });
  const condition = { type: "Ready", status, reason: "Test", message: "" };
  const conditions = setCondition(cluster.status?.conditions, condition, fleet.clock.now());
  const changed = { ...cluster, status: { ...cluster.status, conditions } };
  await fleet.plane.update(clusters, changed, { subresource: "status" });
}

async function pauseAll(): Promise<void> {
  const budget: New<EvacuationBudget> = {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationBudget",
    metadata: { name: "fleet" },
    spec: { paused: true },
  };
  await fleet.plane.create(evacuationBudgets, budget);
}

const events = (): readonly string[] => received.map(({ event }) => event);

it("a failure, a decision that waits, its end and the recovery arrive, each once", async () => {
  await report("m1", "False");
  await fleet.advance("20s");
  expect(received).toEqual([
    {
      id: expect.stringMatching(/^history-/),
      event: "ClusterFailed",
      summary: "m1 failed: Ready is False (Test)",
    },
  ]);
  await pauseAll();
  await fleet.advance("5s");
  expect(events()).toEqual(["ClusterFailed"]);
  await fleet.advance("20s");
  expect(events()).toEqual(["ClusterFailed", "DecisionWaits"]);
  await fleet.plane.delete(evacuationBudgets, { namespace: "", name: "fleet" });
  await report("m1", "True");
  await fleet.advance("40s");
  expect(events().slice(2).toSorted()).toEqual(["ClusterRecovered", "DecisionMade"]);
  await fleet.restart();
  await fleet.advance("2m");
  expect(received).toHaveLength(4);
  const { deliveries, record } = await readNotifications(fleet.plane);
  expect(deliveries.map(({ outcome }) => outcome)).toEqual(Array(4).fill("Delivered"));
  expect(record?.open).toEqual({});
});

it("what happened before notices were switched on is not sent", async () => {
  expect(received).toEqual([]);
  await report("m1", "False");
  await fleet.advance("20s");
  await fleet.plane.delete(configMaps, NOTIFICATIONS_KEY);
  await fleet.restart();
  await fleet.advance("1m");
  expect(events()).toEqual(["ClusterFailed"]);
  // Its end is, because people see that the cluster is down.
  await report("m1", "True");
  await fleet.advance("20s");
  expect(events()).toEqual(["ClusterFailed", "ClusterRecovered"]);
});

it("a receiver that is away for an hour gets everything in order when it returns", async () => {
  answers = () => ({ kind: "failed", message: "connect ECONNREFUSED" });
  await report("m1", "False");
  await fleet.advance("30m");
  await report("m1", "True");
  await fleet.advance("30m");
  expect(received).toEqual([]);
  // Pauses grow: an hour is not a thousand attempts.
  expect(attempts).toBeGreaterThan(5);
  expect(attempts).toBeLessThan(40);
  const { deliveries } = await readNotifications(fleet.plane);
  expect(deliveries).toHaveLength(1);
  expect(deliveries[0]).toMatchObject({ outcome: "Retry", message: "connect ECONNREFUSED" });
  expect(await metrics.expose()).toMatch(/lifeboat_notification_failing_seconds [1-9]\d{2,}/);
  answers = () => OK;
  await fleet.advance("6m");
  expect(events()).toEqual(["ClusterFailed", "ClusterRecovered"]);
  expect(await metrics.expose()).toMatch(/lifeboat_notification_failing_seconds 0/);
});

it("a receiver that never answers is left after ten seconds and tried again", async () => {
  answers = (attempt) => (attempt === 1 ? "never" : OK);
  await report("m1", "False");
  await fleet.advance("15s");
  expect(attempts).toBe(1);
  await fleet.advance("30s");
  expect(events()).toEqual(["ClusterFailed"]);
});

it("a notice that the receiver cannot take does not hold up the others", async () => {
  answers = (attempt) =>
    attempt <= 3 ? { kind: "answered", code: 400, text: "invalid_payload" } : OK;
  await report("m1", "False");
  await fleet.advance("1m");
  await report("m1", "True");
  await fleet.advance("1m");
  expect(events()).toEqual(["ClusterRecovered"]);
  const { deliveries } = await readNotifications(fleet.plane);
  expect(deliveries[0]).toMatchObject({
    outcome: "Rejected",
    attempts: 3,
    message: "HTTP 400: invalid_payload",
  });
});

it("a process that dies after a delivery and before its record sends that notice again, with its id", async () => {
  const before = await fleet.plane.get(configMaps, NOTIFICATIONS_KEY);
  await report("m1", "False");
  await fleet.advance("20s");
  expect(received).toHaveLength(1);
  // The record as it was before the delivery, as the process that died would have left it.
  const now = await fleet.plane.get(configMaps, NOTIFICATIONS_KEY);
  await fleet.plane.update(configMaps, { ...now, data: before["data"] });
  await fleet.restart();
  await fleet.advance("30s");
  expect(received).toHaveLength(2);
  expect(received[1]).toEqual(received[0]);
  await fleet.restart();
  await fleet.advance("30s");
  expect(received).toHaveLength(2);
});

it("at rest nothing is written", async () => {
  await report("m1", "False");
  await fleet.advance("30s");
  const { resourceVersion } = (await fleet.plane.get(configMaps, NOTIFICATIONS_KEY)).metadata;
  await fleet.advance("30m");
  const later = (await fleet.plane.get(configMaps, NOTIFICATIONS_KEY)).metadata;
  expect(later.resourceVersion).toBe(resourceVersion);
});
