/**
 * Records what a real kube-apiserver does with custom resources and their definitions, as fixtures for packages/api.
 *
 *   npx tsx tools/record-crd-fixtures/main.ts && npx oxfmt packages/api/fixtures-crd
 *
 * Volatile parts (uids, times, versions, managed fields) are left out. Causes that come from maps have no fixed order on a
 * real server; tests compare them as sets.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Json, JsonObject } from "../record-fixtures/case.ts";
import type { Answer, RealApiServer } from "../../tests/support/real-api-server.ts";
import { startRecordingServer } from "../record-fixtures/recording-server.ts";
import { crdCases, crdUpdates } from "./crd-cases.ts";
import { type SchemaCase, schemaCases, tightening } from "./schema-cases.ts";

const DIRECTORY = fileURLToPath(new URL("../../packages/api/fixtures-crd", import.meta.url));
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP = "rec.example.com";

/** What a request gave: the object, or the reason why not. */
type Outcome =
  | { readonly object: Json }
  | { readonly code: number; readonly message: string; readonly causes?: Json };

async function main(): Promise<void> {
  mkdirSync(DIRECTORY, { recursive: true });
  const server = await startRecordingServer();
  try {
    write("crds", await recordCrds(server));
    write("crd-updates", await recordCrdUpdates(server));
    write("objects", await recordSchemas(server));
    write("ratcheting", await recordTightening(server));
  } finally {
    await server.stop();
  }
}

function write(name: string, value: unknown): void {
  writeFileSync(join(DIRECTORY, `${name}.json`), `${JSON.stringify(value, null, 2)}\n`);
}

async function recordCrds(server: RealApiServer): Promise<unknown> {
  const recorded = [];
  for (const [name, crd] of Object.entries(crdCases)) {
    const answer = await server.call("POST", `${CRDS}?dryRun=All`, crd);
    recorded.push({ name, crd, outcome: outcomeOf(answer) });
  }
  return recorded;
}

async function recordCrdUpdates(server: RealApiServer): Promise<unknown> {
  const first = crdUpdates["nothing"];
  const name = "things.rec.example.com";
  await server.call("POST", CRDS, first);
  await untilEstablished(server, name);
  const stored = (await server.call("GET", `${CRDS}/${name}`)).body as JsonObject;
  const metadata = stored["metadata"] as JsonObject;
  const recorded = [];
  for (const [title, crd] of Object.entries(crdUpdates)) {
    const body = { ...crd, metadata: { name, resourceVersion: metadata["resourceVersion"] } };
    const answer = await server.call("PUT", `${CRDS}/${name}?dryRun=All`, body);
    recorded.push({ name: title, old: clean(stored), crd, outcome: outcomeOf(answer) });
  }
  await server.call("DELETE", `${CRDS}/${name}`);
  return recorded;
}

async function recordSchemas(server: RealApiServer): Promise<unknown> {
  const recorded = [];
  for (const [name, schemaCase] of Object.entries(schemaCases)) {
    const crd = crdFor(name, schemaCase);
    await create(server, crd);
    const path = `/apis/${GROUP}/v1/namespaces/default/${plural(name)}`;
    const objects: Record<string, JsonObject> = {
      ...Object.fromEntries(
        Object.entries(schemaCase.creates).map(([title, spec]) => [title, { spec }]),
      ),
      ...schemaCase.whole,
    };
    const creates = [];
    for (const [title, fields] of Object.entries(objects)) {
      const object = complete(name, fields);
      creates.push({
        name: title,
        object,
        outcome: outcomeOf(await server.call("POST", `${path}?dryRun=All`, object)),
        strict: strictMessage(
          await server.call("POST", `${path}?dryRun=All&fieldValidation=Strict`, object),
        ),
      });
    }
    const updates = [];
    for (const [title, [before, after]] of Object.entries(schemaCase.updates ?? {})) {
      const object = complete(name, { spec: before });
      const stored = (await server.call("POST", path, object)).body as JsonObject;
      const next = { ...stored, spec: after };
      const outcome = outcomeOf(await server.call("PUT", `${path}/sample?dryRun=All`, next));
      updates.push({ name: title, before, after, outcome });
      await server.call("DELETE", `${path}/sample`);
    }
    recorded.push({ name, crd, creates, updates });
  }
  return recorded;
}

async function recordTightening(server: RealApiServer): Promise<unknown> {
  const name = "tightening";
  const loose = crdFor(name, { spec: tightening.before, creates: {} });
  const tight = crdFor(name, { spec: tightening.after, creates: {} });
  await create(server, loose);
  const path = `/apis/${GROUP}/v1/namespaces/default/${plural(name)}`;
  const stored = (await server.call("POST", path, complete(name, { spec: tightening.stored })))
    .body as JsonObject;
  const patched = await server.call("PATCH", `${CRDS}/${plural(name)}.${GROUP}`, tight, {
    "content-type": "application/merge-patch+json",
  });
  if (patched.code !== 200) throw new Error(`changing the CRD: ${JSON.stringify(patched.body)}`);
  await untilTight(server, `${path}?dryRun=All`, complete(name, { spec: { text: "too long" } }));
  const recorded = [];
  for (const [title, change] of Object.entries(tightening.changes)) {
    const spec = { ...(stored["spec"] as JsonObject), ...change };
    const answer = await server.call("PUT", `${path}/sample?dryRun=All`, { ...stored, spec });
    recorded.push({ name: title, change, outcome: outcomeOf(answer) });
  }
  return { crd: tight, stored: tightening.stored, changes: recorded };
}

async function untilTight(server: RealApiServer, path: string, object: Json): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if ((await server.call("POST", path, object)).code === 422) return;
    await sleep(100);
  }
  throw new Error("waiting for the stricter schema: it did not come into force");
}

function crdFor(name: string, schemaCase: SchemaCase): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural(name)}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural: plural(name), kind: kindOf(name) },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: schemaCase.spec,
                ...(schemaCase.status === undefined ? {} : { status: schemaCase.status }),
              },
              required: ["spec"],
            },
          },
          ...(schemaCase.subresources === undefined
            ? {}
            : { subresources: schemaCase.subresources }),
        },
      ],
    },
  };
}

function plural(name: string): string {
  return `${name}kinds`;
}

function kindOf(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Kind`;
}

function complete(name: string, fields: JsonObject): JsonObject {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: kindOf(name),
    metadata: { name: "sample" },
    ...fields,
  };
}

async function create(server: RealApiServer, crd: JsonObject): Promise<void> {
  const answer = await server.call("POST", CRDS, crd);
  if (answer.code !== 201) throw new Error(`creating a CRD: ${JSON.stringify(answer.body)}`);
  const { name } = crd["metadata"] as { name: string };
  await untilEstablished(server, name);
  // Routes follow the condition.
  const path = `/apis/${GROUP}/v1/namespaces/default/${name.split(".")[0]}`;
  for (let attempt = 0; attempt < 100; attempt++) {
    if ((await server.call("GET", path)).code === 200) return;
    await sleep(100);
  }
  throw new Error(`waiting for ${name}: it is not served`);
}

async function untilEstablished(server: RealApiServer, name: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { body } = await server.call("GET", `${CRDS}/${name}`);
    const conditions = (body as { status?: { conditions?: { type: string; status: string }[] } })
      .status?.conditions;
    if (conditions?.some(({ type, status }) => type === "Established" && status === "True")) return;
    await sleep(50);
  }
  throw new Error(`waiting for ${name}: it was not established`);
}

function outcomeOf({ code, body }: Answer): Outcome {
  if (code < 300) return { object: clean(body as JsonObject) };
  const status = body as { message: string; details?: { causes?: Json } };
  const causes = status.details?.causes;
  return { code, message: status.message, ...(causes === undefined ? {} : { causes }) };
}

/** What strict field validation says, when it says something. */
function strictMessage({ code, body }: Answer): string | undefined {
  return code === 400 ? (body as { message: string }).message : undefined;
}

function clean(object: JsonObject): JsonObject {
  const {
    uid: _uid,
    resourceVersion: _version,
    generation: _generation,
    creationTimestamp: _time,
    managedFields: _fields,
    ...metadata
  } = object["metadata"] as JsonObject;
  const status = object["status"] as JsonObject | undefined;
  const conditions = status?.["conditions"] as readonly JsonObject[] | null | undefined;
  if (!Array.isArray(conditions)) return { ...object, metadata };
  const timeless = (conditions as readonly JsonObject[]).map((condition) => {
    const { lastTransitionTime: _when, ...rest } = condition;
    return rest;
  });
  return { ...object, metadata, status: { ...status, conditions: timeless } };
}

await main();
