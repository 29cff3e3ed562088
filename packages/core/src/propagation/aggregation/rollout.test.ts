/**
 * What `kubectl rollout status` and Argo CD conclude from a template's status: they must wait until every copy is done,
 * and must not wait any longer. The rules below are theirs, in our words.
 */
import { unreachable } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { countAt, type Fields, textAt, valueAt } from "../../fields.ts";
import { interpreterOf } from "../interpretation/interpretation.ts";
import type { StatusItem } from "../interpretation/interpreter.ts";

type Kind = "Deployment" | "DaemonSet" | "StatefulSet";

function isDone(kind: Kind, template: Fields): boolean {
  const status = (name: string): number => countAt(template, "status", name);
  const replicas = countAt(template, "spec", "replicas");
  if (status("observedGeneration") < countAt(template, "metadata", "generation")) return false;
  switch (kind) {
    case "Deployment":
      return (
        status("updatedReplicas") >= replicas &&
        status("replicas") <= status("updatedReplicas") &&
        status("availableReplicas") >= status("updatedReplicas")
      );
    case "DaemonSet":
      return (
        status("updatedNumberScheduled") >= status("desiredNumberScheduled") &&
        status("numberAvailable") >= status("desiredNumberScheduled")
      );
    case "StatefulSet":
      return (
        status("observedGeneration") > 0 &&
        status("readyReplicas") >= replicas &&
        textAt(template, "status", "updateRevision") ===
          textAt(template, "status", "currentRevision")
      );
    default:
      return unreachable(kind);
  }
}

/** Two replicas in each of two clusters, at generation 2 of the template. */
const template = (kind: Kind): Fields => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "web", generation: 2 },
  spec: { replicas: 4 },
  status: { observedGeneration: 1 },
});

const seen = { generation: 5, observedGeneration: 5, resourceTemplateGeneration: 2 };

const copies: Readonly<
  Record<Kind, { readonly done: Fields; readonly rolling: readonly Fields[] }>
> = {
  Deployment: {
    done: { ...seen, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 },
    rolling: [
      {
        ...seen,
        resourceTemplateGeneration: 1,
        replicas: 2,
        updatedReplicas: 2,
        availableReplicas: 2,
      },
      { ...seen, observedGeneration: 4, replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
      { ...seen, replicas: 2, updatedReplicas: 1, availableReplicas: 2 },
      { ...seen, replicas: 3, updatedReplicas: 2, availableReplicas: 2 },
      { ...seen, replicas: 2, updatedReplicas: 2, availableReplicas: 1 },
    ],
  },
  DaemonSet: {
    done: { ...seen, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 },
    rolling: [
      {
        ...seen,
        resourceTemplateGeneration: 1,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberAvailable: 2,
      },
      { ...seen, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2 },
      { ...seen, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
    ],
  },
  StatefulSet: {
    done: { ...seen, replicas: 2, readyReplicas: 2, currentRevision: "b", updateRevision: "b" },
    rolling: [
      { ...seen, resourceTemplateGeneration: 1, replicas: 2, readyReplicas: 2 },
      { ...seen, replicas: 2, readyReplicas: 2, currentRevision: "a", updateRevision: "b" },
      { ...seen, replicas: 2, readyReplicas: 1, currentRevision: "b", updateRevision: "b" },
    ],
  },
};

function after(kind: Kind, ...statuses: readonly (Fields | undefined)[]): Fields {
  const items: StatusItem[] = statuses.map((status, i) => ({
    clusterName: `m${i}`,
    ...(status !== undefined && { status }),
  }));
  const subject = template(kind);
  return { ...subject, status: interpreterOf(subject).aggregateStatus(subject, items) };
}

describe.each<Kind>(["Deployment", "DaemonSet", "StatefulSet"])("a rollout of a %s", (kind) => {
  const { done, rolling } = copies[kind];

  it("is over when every copy is done", () => {
    const subject = after(kind, done, done);
    expect(isDone(kind, subject)).toBe(true);
    expect(valueAt(subject, "status", "observedGeneration")).toBe(2);
  });

  it("is not over while a copy has not reported", () => {
    expect(isDone(kind, after(kind, done, undefined))).toBe(false);
    expect(isDone(kind, after(kind, undefined))).toBe(false);
  });

  it.each(rolling.map((status) => [status]))("is not over while a copy reports %j", (status) => {
    expect(isDone(kind, after(kind, done, status))).toBe(false);
    expect(isDone(kind, after(kind, status, done))).toBe(false);
  });
});
