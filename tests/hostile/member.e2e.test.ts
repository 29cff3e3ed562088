/**
 * Hostile members joined beside an honest one, one for each attack. Whatever they answer, the control plane goes on: its API answers,
 * the honest member gets its workloads, the Cluster of the attack has a condition with its reason, and nothing that was written into
 * an error page is shown to users.
 */
import { readFileSync } from "node:fs";
import * as https from "node:https";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as wait } from "node:timers/promises";
import {
  type AnyObject,
  clusters,
  findCondition,
  type Json,
  type New,
  type Resource,
  works,
} from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";

const core = (plural: string, kind: string): Resource => ({
  group: "",
  version: "v1",
  plural,
  kind,
  namespaced: true,
});
const SECRETS = core("secrets", "Secret");
const EVENTS = core("events", "Event");
const DEPLOYMENTS: Resource = { ...core("deployments", "Deployment"), group: "apps" };
const POLICIES: Resource = {
  ...core("propagationpolicies", "PropagationPolicy"),
  group: "policy.karmada.io",
  version: "v1alpha1",
};
const MARKER = "body-of-a-hostile-member";

/** `reason`: of the condition ResponsesWithinLimits; absent: no limit is exceeded. */
const ATTACKS = [
  { attack: "nested-json", reason: "ResponseTooDeep", answersProbes: true },
  { attack: "ignored-limit", reason: "TooManyItems", answersProbes: true },
  { attack: "endless-pages", reason: "TooManyItems", answersProbes: true },
  { attack: "endless-watch", reason: "WatchTooFast", answersProbes: true },
  { attack: "many-groups", reason: "TooManyItems", answersProbes: true },
  { attack: "error-pages", reason: undefined, answersProbes: true },
  { attack: "endless-answer", reason: "ResponseTooLarge", answersProbes: false },
  { attack: "redirects", reason: undefined, answersProbes: false },
];

/**
 * How long an attack lasts, and how long an answer may take meanwhile on a busy machine. A control plane that parses everything
 * it is sent answers no client for as long as that takes. What an attack costs is printed, and not judged: an idle machine lets
 * the member send more of it.
 */
const ATTACK_MS = Number(process.env["LIFEBOAT_ATTACK_SECONDS"] ?? 8) * 1000;
const SLOWEST_MS = 3000;

let plane: RunningLifeboat;
let client: HttpClient;
let honest: HttpClient;
let hostile: RunningProcess;
/** Where the member of each attack listens. */
const ports = new Map<string, string>();
const directory = temporaryDirectory("hostile");

beforeAll(async () => {
  const program = fileURLToPath(new URL("hostile-member.ts", import.meta.url));
  const flags = ["--conditions=@lifeboat/source", "--import", "tsx"];
  const names = ATTACKS.map(({ attack }) => attack);
  hostile = startProcess(process.execPath, [...flags, program, directory, ...names]);
  for (const name of names) {
    const [, port = ""] = await hostile.printed(new RegExp(`listening ${name} (\\d+)`));
    ports.set(name, port);
  }
  plane = await startLifeboat({
    args: [
      "--members",
      "1",
      "--cluster-status-update-frequency",
      "1s",
      "--cluster-failure-threshold",
      "5s",
    ],
  });
  await plane.process.printed(/^members ready$/m);
  client = await connectByKubeconfig({ paths: [plane.kubeconfig] });
  honest = await connectByKubeconfig({ paths: [join(plane.dataDirectory, "member1.kubeconfig")] });
  await Promise.all(names.map(joinHostile));
  await client.create(POLICIES, policy());
});

afterAll(async () => {
  client?.close();
  honest?.close();
  await plane?.stop();
  await hostile?.stop("SIGKILL");
  removeDirectory(directory);
});

const endpointOf = (name: string): string => `https://127.0.0.1:${ports.get(name)}`;
const tokenOf = (name: string): string => `token-for-${name}`;

async function joinHostile(name: string): Promise<void> {
  const endpoint = endpointOf(name);
  await client.create(SECRETS, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace: "karmada-cluster",
      annotations: { "lifeboat.dev/api-endpoint": endpoint },
    },
    type: "Opaque",
    data: { token: btoa(tokenOf(name)) },
  });
  await client.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: {
      syncMode: "Push",
      apiEndpoint: endpoint,
      insecureSkipTLSVerification: true,
      secretRef: { namespace: "karmada-cluster", name },
    },
  });
  await eventually(async () => {
    expect(await conditionOf(name, "Ready")).toMatchObject({ status: "True" });
    expect(await conditionOf(name, "CompleteAPIEnablements")).toMatchObject({ status: "True" });
  });
}

function policy(): New<AnyObject> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "all", namespace: "default" },
    spec: { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }], placement: {} },
  };
}

function deployment(name: string): New<AnyObject> {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "main", image: "nginx:1.27" }] },
      },
    },
  };
}

async function conditionOf(name: string, type: string) {
  const { status } = await client.get(clusters, { namespace: "", name });
  return findCondition(status?.conditions, type);
}

/** One request to a hostile member itself. */
function ask(name: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", rejectUnauthorized: false, agent: false };
    https
      .request(`${endpointOf(name)}${path}`, options, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve(text));
        response.on("error", reject);
      })
      .on("error", reject)
      .end();
  });
}

interface Seen {
  /** The credentials that were sent to the member. */
  readonly authorizations: readonly string[];
  /** How many requests were answered by the attack. */
  readonly attacked: number;
  readonly isRedirectFollowed: boolean;
}

async function seen(name: string): Promise<Seen> {
  return JSON.parse(await ask(name, "/seen")) as Seen;
}

/** Asks the plane again and again for so long; answers how long each answer took. */
async function latencies(forMs: number): Promise<readonly number[]> {
  const took: number[] = [];
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    const began = performance.now();
    await client.get(POLICIES, { namespace: "default", name: "all" });
    took.push(performance.now() - began);
    await wait(20);
  }
  return took;
}

/** How long the control plane has used a processor. */
function processorMs(): number {
  const text = readFileSync(`/proc/${plane.process.pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // Ticks of ten milliseconds, in user and in system mode.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

describe.each(ATTACKS)(
  "17.4: a member that attacks with $attack",
  ({ attack, reason, answersProbes }) => {
    const name = `web-${attack}`;

    it("leaves the API responsive and the honest member served", async () => {
      const before = await conditionOf(attack, "Ready");
      const began = processorMs();
      await ask(attack, "/attack");
      const [took] = await Promise.all([
        latencies(ATTACK_MS),
        client.create(DEPLOYMENTS, deployment(name)),
      ]);
      const slowest = Math.max(...took);
      const used = processorMs() - began;
      process.stdout.write(
        `${attack}: ${took.length} answers, slowest ${slowest.toFixed(0)} ms, processor ${used} ms\n`,
      );
      expect(slowest).toBeLessThan(SLOWEST_MS);
      await eventually(async () => {
        const copy = await honest.get(DEPLOYMENTS, { namespace: "default", name });
        expect(copy).toMatchObject({ status: { readyReplicas: 1 } });
      }, 20_000);
      await eventually(async () => {
        expect((await seen(attack)).attacked).toBeGreaterThan(0);
        const within = await conditionOf(attack, "ResponsesWithinLimits");
        if (reason === undefined) expect(within).toBeUndefined();
        else expect(within).toMatchObject({ status: "False", reason });
        // The condition itself moves nothing: only its probes say whether a member is ready.
        const ready = await conditionOf(attack, "Ready");
        if (answersProbes) expect(ready).toEqual(before);
        else expect(ready).not.toMatchObject({ status: "True" });
      }, 20_000);
      await ask(attack, "/peace");
    });

    it("shows nothing of what it answered", async () => {
      const seen = [
        await client.list(EVENTS),
        await client.list(clusters),
        await client.list(works),
        await client.list(DEPLOYMENTS),
      ];
      expect(JSON.stringify(seen)).not.toContain(MARKER);
      expect(plane.process.output()).not.toContain(MARKER);
    });
  },
);

it("17.14: a redirect was not followed", async () => {
  expect((await seen("redirects")).isRedirectFollowed).toBe(false);
});

it("17.14: a Cluster that is turned to a hostile endpoint does not send its token there", async () => {
  const key = { namespace: "", name: "member1" };
  const { spec } = await client.get(clusters, key);
  const turn = async (body: Json): Promise<void> => {
    await client.patch(clusters, key, { type: "merge", body: { spec: body } });
  };
  const other = "nested-json";
  await turn({ apiEndpoint: endpointOf(other), insecureSkipTLSVerification: true });
  await eventually(async () => {
    const { status } = await client.get(clusters, key);
    const ready = findCondition(status?.conditions, "Ready");
    expect(ready).toMatchObject({ status: "False", reason: "StatusCollectionFailed" });
    expect(ready?.message).toContain("was not given for the endpoint");
  }, 30_000);
  expect((await seen(other)).authorizations).toEqual([`Bearer ${tokenOf(other)}`]);
  await turn({ apiEndpoint: spec.apiEndpoint ?? "", insecureSkipTLSVerification: null });
  await eventually(async () => {
    const { status } = await client.get(clusters, key);
    expect(findCondition(status?.conditions, "Ready")).toMatchObject({ status: "True" });
  });
});
