/** Remedies on a real API server: what stands on Clusters, which Remedy caused it, and the brake. */
import {
  type Cluster,
  clusters,
  evacuationBudgets,
  findCondition,
  type New,
  type Remedy,
  remedies,
  TRAFFIC_CONTROL,
} from "@lifeboat/api";
import { formatTime } from "@lifeboat/base";
import { readSources } from "@lifeboat/core/remedy/actions";
import { Informer, NotSent } from "@lifeboat/kit";
import {
  createFleet,
  type Fleet,
  newCluster,
  reasonsAbout,
  resources,
  wrapped,
} from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PlaneContext } from "../../context/context.ts";
import { changeRecord } from "../../context/fleet-record.ts";
import { createRemedies } from "./create-remedy.ts";

const DNS = "ServiceDomainNameResolutionReady";
const NAMES = ["member1", "member2", "member3", "member4"];
let fleet: Fleet;

async function open(services: (context: PlaneContext) => ReturnType<typeof createRemedies>) {
  fleet = await createFleet({ services });
  for (const name of NAMES) await fleet.plane.create(clusters, newCluster(name));
  await fleet.settle();
}

beforeEach(() => open(createRemedies));
afterEach(() => fleet.close());

function newRemedy(name: string, spec: Remedy["spec"]): New<Remedy> {
  return { apiVersion: "remedy.karmada.io/v1alpha1", kind: "Remedy", metadata: { name }, spec };
}

/** The Remedy of the proposal; of all clusters when none is named. */
const onDns = (name = "foo", ...clusterNames: string[]): New<Remedy> =>
  newRemedy(name, {
    decisionMatches: [
      {
        clusterConditionMatch: {
          conditionType: DNS,
          operator: "Equal",
          conditionStatus: "False",
        },
      },
    ],
    ...(clusterNames.length > 0 && { clusterAffinity: { clusterNames } }),
    actions: [TRAFFIC_CONTROL],
  });
const order = (name: string, ...clusterNames: string[]): New<Remedy> =>
  newRemedy(name, { clusterAffinity: { clusterNames }, actions: [TRAFFIC_CONTROL] });

const keyOf = (name: string) => ({ namespace: "", name });
const read = (name: string): Promise<Cluster> => fleet.plane.get(clusters, keyOf(name));
const actionsOf = async (name: string): Promise<readonly string[]> =>
  (await read(name)).status?.remedyActions ?? [];
const blocked = async (): Promise<readonly string[]> => {
  const { items } = await fleet.plane.list(clusters);
  return items
    .filter(({ status }) => (status?.remedyActions ?? []).includes(TRAFFIC_CONTROL))
    .map(({ metadata }) => metadata.name);
};

/** Another tool reports the condition; without a status it withdraws it. */
async function report(name: string, status?: "True" | "False" | "Unknown"): Promise<void> {
  const cluster = await read(name);
  const others = (cluster.status?.conditions ?? []).filter(({ type }) => type !== DNS);
  const condition = {
    type: DNS,
    status,
    reason: "",
    message: "",
    lastTransitionTime: formatTime(fleet.clock.now()),
  };
  const conditions = status === undefined ? others : [...others, condition];
  const body = { status: { conditions } } as never;
  await fleet.plane.patch(
    clusters,
    keyOf(name),
    { type: "merge", body },
    { subresource: "status" },
  );
  await fleet.settle();
}

describe("a Remedy with conditions", () => {
  it("acts while its condition matches, and its record names it", async () => {
    await fleet.plane.create(remedies, onDns("foo", "member1", "member2"));
    await report("member1", "True");
    expect(await actionsOf("member1")).toEqual([]);
    await report("member1", "False");
    expect(await actionsOf("member1")).toEqual([TRAFFIC_CONTROL]);
    expect(readSources(await read("member1"))).toEqual([
      {
        action: TRAFFIC_CONTROL,
        cause: "Conditions",
        remedies: ["foo"],
        since: "2026-01-01T00:00:00Z",
      },
    ]);
    await report("member3", "False");
    expect(await blocked()).toEqual(["member1"]);
    await report("member1", "True");
    expect(await blocked()).toEqual([]);
    expect(readSources(await read("member1"))).toEqual([]);
    expect(await reasonsAbout(fleet.plane, "member1")).toEqual([
      "RemedyActionsChanged",
      "RemedyActionsChanged",
    ]);
  });

  it("ends when its condition vanishes", async () => {
    await fleet.plane.create(remedies, onDns());
    await report("member1", "False");
    expect(await blocked()).toEqual(["member1"]);
    await report("member1", undefined);
    expect(await blocked()).toEqual([]);
  });

  it("ends when it is deleted, also while the control plane is down, and when it is edited", async () => {
    await fleet.plane.create(remedies, onDns());
    await report("member1", "False");
    const stored = await fleet.plane.get(remedies, keyOf("foo"));
    const clusterAffinity = { clusterNames: ["member2"] };
    const edited = await fleet.plane.update(remedies, {
      ...stored,
      spec: { ...stored.spec, clusterAffinity },
    });
    await fleet.settle();
    expect(await blocked()).toEqual([]);
    await fleet.plane.update(remedies, { ...edited, spec: stored.spec });
    await fleet.settle();
    expect(await blocked()).toEqual(["member1"]);
    await fleet.plane.delete(remedies, keyOf("foo"));
    await fleet.restart();
    await fleet.settle();
    expect(await blocked()).toEqual([]);
  });
});

describe("a person's order", () => {
  it("acts at once and ends with it (story 1), beside another Remedy on the same cluster", async () => {
    await fleet.plane.create(remedies, order("upgrade", "member1"));
    await fleet.settle();
    expect(await blocked()).toEqual(["member1"]);
    await fleet.plane.create(remedies, onDns());
    await report("member1", "False");
    await fleet.plane.delete(remedies, keyOf("upgrade"));
    await fleet.settle();
    expect(await blocked()).toEqual(["member1"]);
    expect(readSources(await read("member1"))).toMatchObject([
      { cause: "Conditions", remedies: ["foo"] },
    ]);
    await fleet.plane.delete(remedies, keyOf("foo"));
    await fleet.settle();
    expect(await blocked()).toEqual([]);
  });
});

describe("an edit by hand", () => {
  it.each([[["Foreign"]], [[]], [[TRAFFIC_CONTROL, TRAFFIC_CONTROL]]])(
    "of the actions to %j is undone",
    async (remedyActions) => {
      await fleet.plane.create(remedies, order("upgrade", "member1"));
      await fleet.settle();
      const body = { status: { remedyActions } } as never;
      await fleet.plane.patch(
        clusters,
        keyOf("member1"),
        { type: "merge", body },
        { subresource: "status" },
      );
      await fleet.settle();
      expect(await actionsOf("member1")).toEqual([TRAFFIC_CONTROL]);
      expect(await reasonsAbout(fleet.plane, "member1")).toContain("RemedyActionsCorrected");
    },
  );

  it("of the record is undone", async () => {
    await fleet.plane.create(remedies, order("upgrade", "member1"));
    const body = { metadata: { annotations: { "lifeboat.dev/remedy-sources": "lies" } } };
    await fleet.plane.patch(clusters, keyOf("member1"), { type: "merge", body });
    await fleet.settle();
    expect(readSources(await read("member1"))).toMatchObject([{ remedies: ["upgrade"] }]);
  });

  it("of the actions is undone where no Remedy ever was", async () => {
    const body = { status: { remedyActions: [TRAFFIC_CONTROL] } } as never;
    await fleet.plane.patch(
      clusters,
      keyOf("member2"),
      { type: "merge", body },
      { subresource: "status" },
    );
    await fleet.settle();
    expect(await blocked()).toEqual([]);
  });
});

it("writes nothing at rest, not even after a restart, and keeps what others report", async () => {
  await fleet.plane.create(remedies, onDns());
  await report("member1", "False");
  const before = await read("member1");
  expect(findCondition(before.status?.conditions, DNS)?.status).toBe("False");
  await fleet.restart();
  await fleet.advance("10m");
  expect((await read("member1")).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

it("completes what a process that died between its two writes left", async () => {
  await fleet.close();
  let isDying = true;
  await open((context) => {
    const plane = wrapped(context.plane, {
      update: (resource, object, options) =>
        isDying && options?.subresource === "status" && resource.plural === "clusters"
          ? Promise.reject(new NotSent("the process is dead"))
          : context.plane.update(resource, object, options),
    });
    return createRemedies({ ...context, plane });
  });
  await fleet.plane.create(remedies, onDns());
  await report("member1", "False");
  expect(readSources(await read("member1"))).toHaveLength(1);
  expect(await blocked()).toEqual([]);
  isDying = false;
  await fleet.restart();
  await fleet.settle();
  expect(await blocked()).toEqual(["member1"]);
  const record = await fleet.plane.get(evacuationBudgets, keyOf("fleet"));
  expect(record.status?.trafficBlocks).toHaveLength(1);
});

it("asks the server before it acts for a Remedy that is gone, of which its cache still knows", async () => {
  await fleet.close();
  const stop = new AbortController();
  await open((context) => {
    const stale = new Informer(context, context.plane, remedies);
    const following = { name: "stale", run: () => stale.run(stop.signal) };
    return [
      following,
      ...createRemedies({ ...context, informers: { ...context.informers, remedies: stale } }),
    ];
  });
  await fleet.plane.create(remedies, onDns());
  await fleet.settle();
  stop.abort();
  await fleet.settle();
  await fleet.plane.delete(remedies, keyOf("foo"));
  await report("member1", "False");
  await fleet.advance("10s");
  expect(await blocked()).toEqual([]);
});

describe("the brake", () => {
  const condition = async () => {
    const record = await fleet.plane.get(evacuationBudgets, keyOf("fleet"));
    return findCondition(record.status?.conditions, "MassTrafficBlock");
  };
  const agree = async (): Promise<void> => {
    const trafficBlocksAgreedAt = formatTime(fleet.clock.now());
    await changeRecord(fleet.plane, (parts) => ({
      ...parts,
      spec: { ...parts.spec, trafficBlocksAgreedAt },
    }));
    await fleet.settle();
  };

  it("holds the third of four clusters within a minute, until a person agrees; orders pass", async () => {
    await fleet.plane.create(remedies, onDns());
    for (const name of NAMES.slice(0, 3)) await report(name, "False");
    expect(await blocked()).toEqual(["member1", "member2"]);
    expect(await condition()).toMatchObject({ status: "True", reason: "TooManyBlocks" });
    expect(await reasonsAbout(fleet.plane, "member3")).toEqual(["RemedyActionHeld"]);
    await fleet.restart();
    await fleet.advance("1h");
    expect(await blocked()).toEqual(["member1", "member2"]);
    await fleet.plane.create(remedies, order("upgrade", "member4"));
    await fleet.settle();
    expect(await blocked()).toEqual(["member1", "member2", "member4"]);
    await agree();
    expect(await blocked()).toEqual(NAMES);
    expect(await condition()).toMatchObject({ status: "False", reason: "BrakeReleased" });
  });

  it("does not hold blocks that are spread over minutes", async () => {
    await fleet.plane.create(remedies, onDns());
    for (const name of NAMES) {
      await report(name, "False");
      await fleet.advance("62s");
    }
    expect(await blocked()).toEqual(NAMES);
  });

  it("holds no recovery, and forgets what it held when the condition recovers; a release is shown all the same", async () => {
    await fleet.plane.create(remedies, onDns());
    for (const name of NAMES.slice(0, 3)) await report(name, "False");
    await report("member1", "True");
    expect(await blocked()).toEqual(["member2"]);
    await report("member3", "True");
    expect(readSources(await read("member3"))).toEqual([]);
    expect(await condition()).toMatchObject({ status: "True" });
    await agree();
    expect(await condition()).toMatchObject({ status: "False" });
  });
});

it("keeps an action that it does not know, and reports it", async () => {
  await fleet.plane.create(remedies, newRemedy("odd", { actions: ["Dance"] }));
  await fleet.settle();
  expect(await actionsOf("member1")).toEqual(["Dance"]);
  expect(await reasonsAbout(fleet.plane, "member1")).toContain("UnknownRemedyAction");
  expect(
    (await fleet.plane.list(resources.events, { namespace: "default" })).items.length,
  ).toBeGreaterThan(0);
});
