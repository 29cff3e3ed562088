/**
 * `lifeboat detector` as a process, with the identity that `lifeboat register --detector` made, against a name server and a web server on
 * loopback: a Remedy follows what it reports, and recovery takes the block back.
 */
import { clusters, remedies, TRAFFIC_CONTROL } from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { newCluster } from "@lifeboat/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import {
  remedyForNames,
  type RunningDetector,
  startDetector,
  startHttpDetector,
} from "./start-detector.ts";

const KEY = { namespace: "", name: "eu-1" };
let plane: RunningLifeboat;
let client: HttpClient;
let detector: RunningDetector;

beforeAll(async () => {
  plane = await startLifeboat();
  client = await connectByKubeconfig({ paths: [plane.kubeconfig] });
  await client.create(clusters, newCluster("eu-1"));
  detector = await startDetector(plane, "eu-1");
});

afterAll(async () => {
  await detector?.stop();
  client?.close();
  await plane?.stop();
});

const NAMES = "ServiceDomainNameResolutionReady";
const HTTP = "detector.lifeboat.dev/ShopReady";

const reported = async (
  status: string,
  actions: readonly string[],
  of: string = NAMES,
): Promise<void> => {
  await eventually(async () => {
    const found = (await client.get(clusters, KEY)).status;
    const condition = found?.conditions?.find(({ type }) => type === of);
    expect([condition?.status, found?.remedyActions ?? []]).toEqual([status, actions]);
  }, 60_000);
};

it("takes traffic away while names do not resolve, and gives it back", async () => {
  await client.create(remedies, remedyForNames);
  await reported("True", []);
  detector.resolve(false);
  await reported("False", [TRAFFIC_CONTROL]);
  detector.resolve(true);
  await reported("True", []);
});

it("does the same by an HTTP probe with a condition of its own, beside the first", async () => {
  const web = await startHttpDetector(plane, "eu-1", HTTP);
  try {
    await client.create(remedies, {
      ...remedyForNames,
      metadata: { name: "shop" },
      spec: {
        ...remedyForNames.spec,
        decisionMatches: [
          {
            clusterConditionMatch: {
              conditionType: HTTP,
              operator: "Equal",
              conditionStatus: "False",
            },
          },
        ],
      },
    });
    await reported("True", [], HTTP);
    web.resolve(false);
    await reported("False", [TRAFFIC_CONTROL], HTTP);
    await reported("True", [TRAFFIC_CONTROL]);
    web.resolve(true);
    await reported("True", [], HTTP);
  } finally {
    await web.stop();
  }
});
