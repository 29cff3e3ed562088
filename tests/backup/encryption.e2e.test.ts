/** Encryption at rest as an operator sees it: no byte of a Secret on the disk, in the log or in a backup; keys that are changed. */
import { randomBytes } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AnyObject, type New, works } from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { resources } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import {
  lifeboatCommand,
  ONLY_API,
  type RunningLifeboat,
  startLifeboat,
} from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";

const CANARY = "canary-6fd1c2a97b";
const CANARY_64 = Buffer.from(CANARY).toString("base64");
const directories: string[] = [];
const running: RunningLifeboat[] = [];

function ownDirectory(): string {
  const directory = temporaryDirectory("encryption-test");
  directories.push(directory);
  return directory;
}

afterEach(async () => {
  for (const one of running.splice(0)) await one.process.stop("SIGKILL");
  for (const directory of directories.splice(0)) removeDirectory(directory);
});

async function start(dataDirectory: string, ...args: string[]): Promise<RunningLifeboat> {
  const all = [...ONLY_API, "--log-level", "debug", ...args];
  const lifeboat = await startLifeboat({ dataDirectory, args: all });
  running.push(lifeboat);
  return lifeboat;
}

async function connected<T>(
  lifeboat: RunningLifeboat,
  use: (plane: HttpClient) => Promise<T>,
): Promise<T> {
  const plane = await connectByKubeconfig({ paths: [lifeboat.kubeconfig] });
  try {
    return await use(plane);
  } finally {
    plane.close();
  }
}

const secret = (name: string): New<AnyObject> => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "default", name },
  stringData: { password: CANARY },
});

/** Secrets that are made, changed and deleted, and one in a Work, as execution gets it. */
async function useSecrets(plane: HttpClient): Promise<void> {
  const made = await plane.create(resources.secrets, secret("db"));
  await plane.update(resources.secrets, {
    ...made,
    type: "Opaque",
    metadata: { ...made.metadata, labels: { a: "b" } },
  });
  await plane.create(resources.secrets, secret("gone"));
  await plane.delete(resources.secrets, { namespace: "default", name: "gone" });
  const data = { password: CANARY_64 };
  const manifest = { apiVersion: "v1", kind: "Secret", metadata: { name: "db" }, data };
  await plane.create(works, {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { namespace: "default", name: "db" },
    spec: { workload: { manifests: [manifest] } },
  });
}

/** The files below a directory that hold the value, as it is or as base64. */
function filesWithCanary(directory: string): readonly string[] {
  return (readdirSync(directory, { recursive: true }) as string[])
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .filter((path) => {
      const bytes = readFileSync(path);
      return bytes.includes(CANARY) || bytes.includes(CANARY_64);
    });
}

function keyFile(...keys: readonly Buffer[]): string {
  const path = join(ownDirectory(), "keys");
  writeFileSync(path, keys.map((key) => `${key.toString("base64")}\n`).join(""), { mode: 0o600 });
  return path;
}

async function lifeboat(...args: readonly string[]): Promise<{ code: unknown; output: string }> {
  const child = startProcess(lifeboatCommand, args);
  return { code: await child.ended, output: child.output() };
}

it("leaves no byte of a Secret in the data directory, the log and a backup; keys can be changed", async () => {
  const [one, two] = [randomBytes(32), randomBytes(32)];
  const directory = ownDirectory();
  const first = await start(directory, "--encryption-key-file", keyFile(one));
  await connected(first, useSecrets);
  const backups = ownDirectory();
  await lifeboat("backup", join(backups, "file"), "--data-dir", directory);
  expect([...filesWithCanary(directory), ...filesWithCanary(backups)]).toEqual([]);
  expect(await first.process.stop()).toBe(0);
  expect(first.process.output()).not.toContain(CANARY);
  expect(filesWithCanary(directory)).toEqual([]);

  const refused = await lifeboat("up", "--data-dir", directory, "--listen", "127.0.0.1:0");
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.output).toMatch(/lifeboat: .* is encrypted with the key [0-9a-f]{16}, and no key/);

  const turned = await start(directory, "--encryption-key-file", keyFile(two, one));
  await turned.process.stop();
  // The backup is of the first key; the directory needs the second alone.
  const last = await start(directory, "--encryption-key-file", keyFile(two));
  const key = { namespace: "default", name: "db" };
  const read = await connected(last, (plane) => plane.get(resources.secrets, key));
  expect(read).toMatchObject({ data: { password: CANARY_64 } });
  await last.process.stop();
  const other = join(ownDirectory(), "restored");
  await lifeboat("restore", join(backups, "file"), "--data-dir", other);
  const restored = await start(other, "--encryption-key-file", keyFile(one));
  await expect(connected(restored, (plane) => plane.get(resources.secrets, key))).resolves.toEqual(
    expect.objectContaining({ data: { password: CANARY_64 } }),
  );
});

it("finds the value where nothing is encrypted: the search itself works", async () => {
  const directory = ownDirectory();
  const plain = await start(directory);
  await connected(plain, useSecrets);
  expect(filesWithCanary(directory)).not.toEqual([]);
});

it("refuses key files that others can read, that lie beside the data, or that hold no keys", async () => {
  const directory = ownDirectory();
  const up = (file: string) =>
    lifeboat(
      "up",
      "--data-dir",
      directory,
      "--listen",
      "127.0.0.1:0",
      "--encryption-key-file",
      file,
    );
  const open = keyFile(randomBytes(32));
  chmodSync(open, 0o640);
  expect(await up(open)).toMatchObject({ code: 2, output: expect.stringContaining("chmod 600") });
  const beside = join(directory, "keys");
  writeFileSync(beside, randomBytes(32).toString("hex"), { mode: 0o600 });
  expect(await up(beside)).toMatchObject({
    code: 2,
    output: expect.stringContaining("beside what it protects"),
  });
  expect(await up(keyFile())).toMatchObject({ code: 2, output: expect.stringContaining("no key") });
  expect(await up("/nowhere")).toMatchObject({ code: 2 });
});
