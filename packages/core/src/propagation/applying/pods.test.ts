import { expect, it } from "vitest";
import { podsOf } from "./pods.ts";

const metadata = { namespace: "shop", name: "web" };
const selector = {
  matchLabels: { app: "web" },
  matchExpressions: [{ key: "tier", operator: "In", values: ["b", "a"] }],
};

it.each([
  ["apps/v1", "Deployment", { selector }, "app=web,tier in (a,b)"],
  ["apps/v1", "StatefulSet", { selector: { matchLabels: { app: "web" } } }, "app=web"],
  ["batch/v1", "Job", {}, "job-name=web"],
  ["batch/v1", "Job", { manualSelector: true, selector: { matchLabels: { a: "b" } } }, "a=b"],
  ["v1", "ConfigMap", {}, undefined],
  ["apps/v1", "Deployment", { selector: {} }, undefined],
  ["apps/v1", "Deployment", { selector: "odd" }, undefined],
])("finds the pods of %s %s by %j", (apiVersion, kind, spec, labelSelector) => {
  const found = podsOf({ apiVersion, kind, metadata, spec });
  expect(found).toEqual(
    labelSelector === undefined ? undefined : { namespace: "shop", labelSelector },
  );
});
