import type { Lease } from "@lifeboat/kit";
import { formatMicroTime, instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import {
  clusterOfRecord,
  decideRecord,
  holderEndpoint,
  type OpenTunnel,
  recordKey,
  type RecordPlan,
} from "./tunnel-record.ts";

const here = { identity: "here", endpoint: "https://10.0.0.1:8443" };
const there = { identity: "there", endpoint: "https://10.0.0.2:8443" };
const at = instantOf(1_000_000_000_000);

const opened = { openedAt: at, isRecorded: false };
const isRecorded = { openedAt: at, isRecorded: true };

function recorded(replica: typeof here, openedAt = at): Lease {
  const tunnel = { openedAt, isRecorded: false };
  const plan = decideRecord({ cluster: "m1", record: undefined, replica, tunnel });
  if (plan.kind !== "create") throw new Error(plan.kind);
  return plan.record as Lease;
}

describe("decideRecord", () => {
  it.each<[string, RecordPlan["kind"], Lease | undefined, OpenTunnel | undefined]>([
    ["a tunnel without a record", "create", undefined, opened],
    ["a tunnel whose record is gone", "create", undefined, isRecorded],
    ["a tunnel that is recorded", "leave", recorded(here), isRecorded],
    ["a newer tunnel of this replica", "update", recorded(here, instantOf(at - 5)), opened],
    ["a tunnel that opens while another replica has the record", "update", recorded(there), opened],
    [
      "a tunnel that opens, on a machine whose clock is behind",
      "update",
      recorded(there, instantOf(at + 60_000)),
      opened,
    ],
    ["a tunnel after which another replica took the record", "leave", recorded(there), isRecorded],
    [
      "a tunnel after which another replica took the record, whose clock is behind",
      "leave",
      recorded(there, instantOf(at - 60_000)),
      isRecorded,
    ],
    ["no tunnel, and a record of this replica", "delete", recorded(here), undefined],
    ["no tunnel, and a record of another replica", "leave", recorded(there), undefined],
    ["no tunnel and no record", "leave", undefined, undefined],
  ])("%s: %s", (_name, kind, record, tunnel) => {
    const plan = decideRecord({ cluster: "m1", record, replica: here, tunnel });
    expect(plan.kind).toBe(kind);
    if (plan.kind !== "create" && plan.kind !== "update") return;
    expect(plan.record.spec?.holderIdentity).toBe("here");
    expect(plan.record.spec?.acquireTime).toBe(formatMicroTime(at));
    expect(holderEndpoint(plan.record as Lease, "there")).toBe(here.endpoint);
  });

  it("of two replicas with a tunnel the one that wrote last keeps the record, and nothing is written for ever", () => {
    let record: Lease | undefined;
    let writes = 0;
    const tunnels = new Map<typeof here, OpenTunnel>([
      // Its clock is a minute ahead of the other's.
      [here, { openedAt: instantOf(at + 60_000), isRecorded: false }],
      [there, opened],
    ]);
    for (let round = 0; round < 4; round++)
      for (const [replica, tunnel] of tunnels) {
        const plan = decideRecord({ cluster: "m1", record, replica, tunnel });
        if (plan.kind !== "create" && plan.kind !== "update") continue;
        record = plan.record as Lease;
        tunnels.set(replica, { ...tunnel, isRecorded: true });
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
