/**
 * Records what a real kube-apiserver does with the objects in `cases/`, as fixtures for packages/api.
 *
 *   npx tsx tools/record-fixtures/main.ts [suite...]
 *
 * One file per suite, one line per case. What differs from run to run (uids, versions, times, managed fields) is
 * replaced by fixed values, and the server's descriptions of table columns are left out.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CreateCase, JsonObject, KindCases, StoredCase } from "./case.ts";
import { suites } from "./cases/index.ts";
import type { Answer, RealApiServer } from "../../tests/support/real-api-server.ts";
import { startRecordingServer } from "./recording-server.ts";

const TARGET = fileURLToPath(new URL("../../packages/api/fixtures/", import.meta.url));
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const NO_UID = "00000000-0000-0000-0000-000000000000";
const THEN = "2026-01-01T00:00:00Z";
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Only the server writes times of the day of the recording. */
const TODAY = new RegExp(`${new Date().toISOString().slice(0, 10)}T\\d\\d:\\d\\d:\\d\\dZ`, "g");

interface Recorded {
  readonly apiVersion: string;
  readonly kind: string;
  readonly case: string;
  readonly verb: "create" | "update" | "print";
  readonly [field: string]: unknown;
}

const chosen = process.argv.slice(2);
const server = await startRecordingServer();
try {
  mkdirSync(TARGET, { recursive: true });
  const columns: Record<string, unknown> = {};
  for (const [suite, kinds] of Object.entries(suites)) {
    if (chosen.length > 0 && !chosen.includes(suite)) continue;
    const lines: Recorded[] = [];
    for (const kind of kinds) lines.push(...(await recordKind(server, kind)));
    writeFileSync(`${TARGET}${suite}.json`, onePerLine(lines));
    process.stdout.write(`${suite}: ${lines.length} cases\n`);
    for (const kind of kinds)
      columns[`${kind.apiVersion}/${kind.kind}`] = await recordColumns(server, kind);
  }
  if (chosen.length === 0)
    writeFileSync(`${TARGET}columns.json`, onePerLine(Object.entries(columns)));
} finally {
  await server.stop();
}

async function recordKind(to: RealApiServer, kind: KindCases): Promise<readonly Recorded[]> {
  const lines: Recorded[] = [];
  for (const entry of kind.creates) lines.push(await recordCreate(to, kind, entry));
  for (const entry of kind.stored) lines.push(...(await recordStored(to, kind, entry)));
  return lines;
}

async function recordCreate(
  to: RealApiServer,
  kind: KindCases,
  entry: CreateCase,
): Promise<Recorded> {
  const path = `${collection(kind)}?dryRun=All`;
  const answer = await to.call("POST", path, entry.object);
  expectSense(kind, entry, answer);
  const base = { ...label(kind, entry, "create"), input: entry.object, code: answer.code };
  if (answer.code !== 201) return { ...base, refused: settled(answer.body) };
  const table = await to.call("POST", path, entry.object, TABLE);
  return { ...base, output: settled(answer.body), cells: cellsOf(table) };
}

async function recordStored(
  to: RealApiServer,
  kind: KindCases,
  entry: StoredCase,
): Promise<readonly Recorded[]> {
  const created = await to.call("POST", collection(kind), entry.object);
  if (created.code !== 201)
    throw new Error(`creating ${kind.kind} for "${entry.name}": ${JSON.stringify(created.body)}`);
  const path = `${collection(kind)}/${(created.body as { metadata: { name: string } }).metadata.name}`;
  try {
    if (entry.status !== undefined) await giveStatus(to, path, entry);
    const old = await to.call("GET", path);
    const print = {
      ...label(kind, entry, "print"),
      object: settled(old.body),
      cells: cellsOf(await to.call("GET", path, undefined, TABLE)),
    };
    if (entry.change === undefined) return [print];
    const input = merged(old.body as JsonObject, entry.change);
    const answer = await to.call("PUT", path, input);
    expectSense(kind, entry, answer);
    const base = {
      ...label(kind, entry, "update"),
      old: settled(old.body),
      input: settled(input),
      code: answer.code,
    };
    const update =
      answer.code === 200
        ? { ...base, output: settled(answer.body) }
        : { ...base, refused: settled(answer.body) };
    return [print, update];
  } finally {
    await to.call("DELETE", `${path}?gracePeriodSeconds=0&propagationPolicy=Background`);
  }
}

async function giveStatus(to: RealApiServer, path: string, entry: StoredCase): Promise<void> {
  const headers = { "content-type": "application/merge-patch+json" };
  const answer = await to.call("PATCH", `${path}/status`, { status: entry.status }, headers);
  if (answer.code !== 200)
    throw new Error(`giving a status for "${entry.name}": ${JSON.stringify(answer.body)}`);
}

async function recordColumns(to: RealApiServer, kind: KindCases): Promise<unknown> {
  const answer = await to.call("GET", collection(kind), undefined, TABLE);
  const { columnDefinitions } = answer.body as {
    columnDefinitions: readonly Record<string, unknown>[];
  };
  return columnDefinitions.map(({ name, type, format, priority }) => ({
    name,
    type,
    format,
    priority,
  }));
}

function collection(kind: KindCases): string {
  const root = kind.apiVersion.includes("/")
    ? `/apis/${kind.apiVersion}`
    : `/api/${kind.apiVersion}`;
  return `${root}${kind.namespaced ? "/namespaces/default" : ""}/${kind.plural}`;
}

function label<Verb extends Recorded["verb"]>(kind: KindCases, entry: CreateCase, verb: Verb) {
  return { apiVersion: kind.apiVersion, kind: kind.kind, case: entry.name, verb };
}

/** A case says in its name whether it should be refused; a surprise means the case tests nothing it meant to. */
function expectSense(kind: KindCases, entry: CreateCase, answer: Answer): void {
  const refused = answer.code >= 300;
  if (refused === entry.name.startsWith("refused:")) return;
  process.stderr.write(
    `surprise: ${kind.kind} "${entry.name}" answered ${answer.code}: ${JSON.stringify(answer.body).slice(0, 500)}\n`,
  );
}

function cellsOf(answer: Answer): unknown {
  const table = answer.body as {
    columnDefinitions: readonly { name: string }[];
    rows: readonly { cells: readonly unknown[]; conditions?: unknown }[];
  };
  const row = table.rows[0];
  return row?.cells.map((cell, index) => {
    const name = table.columnDefinitions[index]?.name;
    return name === "Age" ? "<age>" : settled(cell);
  });
}

/** The same body on every run. */
function settled(body: unknown): unknown {
  const text = JSON.stringify(body, (key, value: unknown) =>
    key === "managedFields" || key === "resourceVersion" || key === "selfLink" ? undefined : value,
  );
  return JSON.parse(text.replaceAll(UUID, NO_UID).replaceAll(TODAY, THEN));
}

function merged(document: JsonObject, patch: JsonObject): JsonObject {
  const result: Record<string, JsonObject[string]> = { ...document };
  for (const [key, value] of Object.entries(patch)) {
    const old = result[key];
    const deep = isObject(value) && isObject(old);
    if (value === null) delete result[key];
    else result[key] = deep ? merged(old, value) : value;
  }
  return result;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function onePerLine(lines: readonly unknown[]): string {
  return `[\n${lines.map((line) => JSON.stringify(line)).join(",\n")}\n]\n`;
}
