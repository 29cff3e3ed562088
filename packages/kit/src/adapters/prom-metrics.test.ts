import { InvariantError } from "@lifeboat/base";
import { expect, test } from "vitest";
import { createPromMetrics } from "./prom-metrics.ts";

test("series appear in the text format with their labels", async () => {
  const metrics = createPromMetrics();
  metrics
    .counter({ name: "writes_total", help: "Writes.", labels: ["verb"] })
    .add(3, { verb: "create" });
  const depth = metrics.gauge({ name: "depth", help: "Depth.", labels: ["queue"] });
  depth.set(4, { queue: "a" });
  depth.set(5, { queue: "b" });
  depth.remove({ queue: "b" });
  metrics.histogram({ name: "took_seconds", help: "Took.", buckets: [0.1, 1] }).observe(0.5, {});
  const text = await metrics.expose();
  expect(text).toContain('writes_total{verb="create"} 3');
  expect(text).toContain('depth{queue="a"} 4');
  expect(text).not.toContain('queue="b"');
  expect(text).toContain('took_seconds_bucket{le="0.1"} 0');
  expect(text).toContain('took_seconds_bucket{le="1"} 1');
});

test("what is forgotten is shown no more, in all counters, and counts from zero when it is back", async () => {
  const metrics = createPromMetrics();
  const made = metrics.counter({ name: "made", help: "M.", labels: ["member_cluster", "kind"] });
  const other = metrics.counter({ name: "other", help: "O.", labels: ["verb"] });
  for (const kind of ["a", "b"]) made.add(2, { member_cluster: "eu-1", kind });
  made.add(1, { member_cluster: "eu-2", kind: "eu-1" });
  other.add(1, { verb: "eu-1" });
  metrics.forget("member_cluster", "eu-1");
  const text = await metrics.expose();
  expect(text).not.toContain('member_cluster="eu-1"');
  expect(text).toContain('made{member_cluster="eu-2",kind="eu-1"} 1');
  expect(text).toContain('other{verb="eu-1"} 1');
  made.add(1, { member_cluster: "eu-1", kind: "a" });
  expect(await metrics.expose()).toContain('made{member_cluster="eu-1",kind="a"} 1');
});

test("a counter without labels shows zero before its first event", async () => {
  const metrics = createPromMetrics();
  metrics.counter({ name: "restarts_total", help: "Restarts." });
  expect(await metrics.expose()).toContain("restarts_total 0");
});

test("declaring the same series twice shares it, and registries are apart", async () => {
  const metrics = createPromMetrics();
  const definition = { name: "shared_total", help: "Shared.", labels: ["who"] } as const;
  metrics.counter(definition).add(1, { who: "a" });
  metrics.counter(definition).add(1, { who: "a" });
  expect(await metrics.expose()).toContain('shared_total{who="a"} 2');
  expect(await createPromMetrics().expose()).not.toContain("shared_total");
});

test("one name with two shapes is refused", () => {
  const metrics = createPromMetrics();
  metrics.counter({ name: "x_total", help: "X." });
  expect(() => metrics.gauge({ name: "x_total", help: "X." })).toThrow(InvariantError);
  expect(() => metrics.counter({ name: "x_total", help: "X.", labels: ["a"] })).toThrow(
    InvariantError,
  );
});
