/** The one figure about room: the scarcest resource decides, and what was never counted has none. */
import type { Cluster } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { makeCluster } from "../placement/makers.suite.ts";
import { headroomOf } from "./headroom.ts";

type Summary = NonNullable<NonNullable<Cluster["status"]>["resourceSummary"]>;
const of = (resourceSummary?: Summary) => {
  const one = makeCluster("a");
  const { resourceSummary: _, ...status } = one.status ?? {};
  return headroomOf({ ...one, status: { ...status, ...(resourceSummary && { resourceSummary }) } });
};

describe("headroomOf", () => {
  const allocatable = { cpu: "10", memory: "10Gi", pods: "100" };

  it("is the share that is left of the scarcest resource", () => {
    const allocated = { cpu: "2500m", memory: "8Gi", pods: "10" };
    expect(of({ allocatable, allocated })).toEqual({ resource: "memory", free: 0.2 });
  });

  it("counts what pods without a node ask for", () => {
    const summary = { allocatable, allocated: { cpu: "5" }, allocating: { cpu: "4" } };
    expect(of(summary)).toEqual({ resource: "cpu", free: expect.closeTo(0.1) });
  });

  it("is 0 where more is taken than there is", () => {
    expect(of({ allocatable, allocated: { pods: "130" } })).toEqual({ resource: "pods", free: 0 });
  });

  it("leaves out resources that the cluster does not have, and others", () => {
    const gpu = { "nvidia.com/gpu": "1" };
    const summary = { allocatable: { pods: "10", ...gpu }, allocated: gpu };
    expect(of(summary)).toEqual({ resource: "pods", free: 1 });
  });

  it.each([[undefined], [{}], [{ allocatable: {} }], [{ allocatable: { cpu: "0" } }]])(
    "is unknown without a count: %j",
    (summary) => expect(of(summary)).toBeUndefined(),
  );
});
