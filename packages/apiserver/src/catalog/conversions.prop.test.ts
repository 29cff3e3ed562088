import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnyObject } from "@lifeboat/api";
import { autoscalerFromStorage, autoscalerToStorage } from "./autoscaler-conversion.ts";
import { eventFromStorage, eventToStorage } from "./event-conversion.ts";

const metadata = {
  name: "x",
  namespace: "default",
  uid: "u",
  resourceVersion: "1",
  creationTimestamp: "2026-01-01T00:00:00Z",
};
const text = fc.string();

test("an event that was shown in the other group is stored as it was", () => {
  const event = fc.record(
    {
      involvedObject: fc.record({ kind: text, name: text }),
      source: fc.constant({}),
      firstTimestamp: fc.constant(null),
      lastTimestamp: fc.constant("2026-01-01T00:00:00Z"),
      eventTime: fc.constant(null),
      reportingComponent: text,
      reportingInstance: text,
      reason: fc.string({ minLength: 1 }),
      message: fc.string({ minLength: 1 }),
      count: fc.nat(),
    },
    {
      requiredKeys: [
        "involvedObject",
        "source",
        "firstTimestamp",
        "lastTimestamp",
        "eventTime",
        "reportingComponent",
        "reportingInstance",
      ],
    },
  );
  fc.assert(
    fc.property(event, (fields) => {
      const stored = { kind: "Event", apiVersion: "v1", metadata, ...fields } as AnyObject;
      expect(eventToStorage(eventFromStorage(stored))).toEqual(stored);
    }),
  );
});

test("an autoscaler that was shown as version 1 is stored as it was", () => {
  const cpu = fc.nat(100).map((averageUtilization) => ({
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
  }));
  const memory = fc.constant({
    type: "Resource",
    resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
  });
  const autoscaler = fc.record({
    annotations: fc.option(fc.dictionary(fc.string({ minLength: 1 }), text, { minKeys: 1 }), {
      nil: undefined,
    }),
    cpu: fc.option(cpu, { nil: undefined }),
    memory: fc.option(memory, { nil: undefined }),
    behavior: fc.option(fc.constant({ scaleDown: { stabilizationWindowSeconds: 5 } }), {
      nil: undefined,
    }),
    conditions: fc.option(fc.constant([{ type: "AbleToScale", status: "True" }]), {
      nil: undefined,
    }),
  });
  fc.assert(
    fc.property(autoscaler, (made) => {
      const metrics = [
        ...(made.cpu === undefined ? [] : [made.cpu]),
        ...(made.memory === undefined ? [] : [made.memory]),
      ];
      const stored = {
        kind: "HorizontalPodAutoscaler",
        apiVersion: "autoscaling/v2",
        metadata: {
          ...metadata,
          ...(made.annotations !== undefined && { annotations: made.annotations }),
        },
        spec: {
          scaleTargetRef: { kind: "Deployment", name: "d" },
          minReplicas: 1,
          maxReplicas: 3,
          ...(metrics.length > 0 && { metrics }),
          ...(made.behavior !== undefined && { behavior: made.behavior }),
        },
        status: {
          desiredReplicas: 0,
          currentMetrics: null,
          ...(made.conditions !== undefined && { conditions: made.conditions }),
        },
      } as AnyObject;
      expect(autoscalerToStorage(autoscalerFromStorage(stored))).toEqual(stored);
    }),
  );
});
