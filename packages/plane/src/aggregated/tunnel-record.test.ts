import type { Lease } from "@lifeboat/kit";
import { formatMicroTime, instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import {
  clusterOfRecord,
  decideRecord,
  holderEndpoint,
  recordKey,
  type RecordPlan,
} from "./tunnel-record.ts";

const here = { identity: "here", endpoint: "https://10.0.0.1:8443" };
const there = { identity: "there", endpoint: "https://10.0.0.2:8443" };
const at = instantOf(1_000_000_000_000);

function recorded(replica: typeof here, openedAt = at): Lease {
  const plan = decideRecord({ cluster: "m1", record: undefined, replica, openedAt });
  if (plan.kind !== "create") throw new Error(plan.kind);
  return plan.record as Lease;
}

describe("decideRecord", () => {
  it.each<[string, RecordPlan["kind"], Lease | undefined, number | undefined]>([
    ["a tunnel without a record", "create", undefined, 0],
    ["a tunnel that is recorded", "leave", recorded(here), 0],
    ["a newer tunnel of this replica", "update", recorded(here), 5],
    ["a tunnel that is newer than another replica's", "update", recorded(there), 5],
    ["a tunnel that is older than another replica's", "leave", recorded(there), -5],
    ["no tunnel, and a record of this replica", "delete", recorded(here), undefined],
    ["no tunnel, and a record of another replica", "leave", recorded(there), undefined],
    ["no tunnel and no record", "leave", undefined, undefined],
  ])("%s: %s", (_name, kind, record, later) => {
    const openedAt = later === undefined ? undefined : instantOf(at + later);
    const plan = decideRecord({ cluster: "m1", record, replica: here, openedAt });
    expect(plan.kind).toBe(kind);
    if (plan.kind !== "create" && plan.kind !== "update") return;
    expect(plan.record.spec?.holderIdentity).toBe("here");
    expect(plan.record.spec?.acquireTime).toBe(formatMicroTime(openedAt ?? at));
    expect(holderEndpoint(plan.record as Lease, "there")).toBe(here.endpoint);
  });

  it("of two replicas with a tunnel one keeps the record, and nothing is written for ever", () => {
    let record: Lease | undefined;
    let writes = 0;
    for (let round = 0; round < 4; round++)
      for (const [replica, later] of [
        [here, 0],
        [there, 1],
      ] as const) {
        const openedAt = instantOf(at + later);
        const plan = decideRecord({ cluster: "m1", record, replica, openedAt });
        if (plan.kind !== "create" && plan.kind !== "update") continue;
        record = plan.record as Lease;
        writes += 1;
      }
    expect([record?.spec?.holderIdentity, writes]).toEqual(["there", 2]);
  });
});

describe("holderEndpoint", () => {
  it("is another replica's, and a place that can be dialled", () => {
    expect(holderEndpoint(recorded(there), "here")).toBe(there.endpoint);
    expect(holderEndpoint(recorded(here), "here")).toBeUndefined();
    expect(holderEndpoint(undefined, "here")).toBeUndefined();
    for (const endpoint of ["", "http://h:1", "https://h/x", "https://u@h", "h:1"])
      expect(holderEndpoint(recorded({ identity: "there", endpoint }), "here")).toBeUndefined();
  });
});

it("names of records lead to their clusters and back", () => {
  expect(clusterOfRecord(recordKey("m1").name)).toBe("m1");
  expect(clusterOfRecord("lifeboat-manager")).toBeUndefined();
});
