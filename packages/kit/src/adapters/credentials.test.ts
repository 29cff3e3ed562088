import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatTime, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ExecPlugin, UserEntry } from "../kubeconfig.ts";
import { createCredentialSource } from "./credentials.ts";
import { defaultKubeconfigPaths, httpConfigOf, loadKubeconfig } from "./load-kubeconfig.ts";

const cluster = { server: "https://x", insecureSkipTlsVerify: false };
let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "credentials-"));
});
afterEach(() => rm(directory, { recursive: true }));

function setUp(user: UserEntry) {
  const clock = new VirtualClock(instantOf(1_700_000_000_000), drainPromises);
  const environment = { PATH: process.env["PATH"] };
  return { clock, source: createCredentialSource({ clock, environment }, cluster, user) };
}

/** A plugin that counts its runs in a file and answers with that count. */
function countingPlugin(expires: string): ExecPlugin {
  const answer = `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t'$n'"${expires}}}`;
  const script = `n=$(( $(cat ${directory}/n 2>/dev/null || echo 0) + 1 )); echo $n > ${directory}/n; test -n "$KUBERNETES_EXEC_INFO" && echo '${answer}'`;
  return {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "sh",
    args: ["-c", script],
    env: {},
    provideClusterInfo: false,
  };
}

test("a token file is re-read after a minute, and at once after a refusal", async () => {
  const tokenFile = join(directory, "token");
  await writeFile(tokenFile, "one\n");
  const { clock, source } = setUp({ tokenFile });
  expect((await source.current()).headers).toEqual({ authorization: "Bearer one" });
  await writeFile(tokenFile, "two\n");
  expect((await source.current()).headers).toEqual({ authorization: "Bearer one" });
  await clock.advance(60_000);
  expect((await source.current()).headers).toEqual({ authorization: "Bearer two" });
  expect(await source.refresh()).toBe(false);
  await writeFile(tokenFile, "three\n");
  expect(await source.refresh()).toBe(true);
});

test("a token file that vanished leaves the last token in place", async () => {
  const tokenFile = join(directory, "token");
  await writeFile(tokenFile, "one");
  const { clock, source } = setUp({ tokenFile });
  await source.current();
  await rm(tokenFile);
  await clock.advance(120_000);
  expect((await source.current()).headers).toEqual({ authorization: "Bearer one" });
});

test.each([
  { name: "a missing", content: undefined, want: "cannot read" },
  { name: "an empty", content: "\n", want: "is empty" },
])("$name token file is an error that names it", async ({ content, want }) => {
  const tokenFile = join(directory, "token");
  if (content !== undefined) await writeFile(tokenFile, content);
  await expect(setUp({ tokenFile }).source.current()).rejects.toThrow(want);
});

test("a plugin runs again only when its answer has expired", async () => {
  const expires = formatTime(instantOf(1_700_000_000_000 + 3_600_000));
  const { clock, source } = setUp({
    exec: countingPlugin(`,"expirationTimestamp":"${expires}"`),
  });
  const [first, second] = await Promise.all([source.current(), source.current()]);
  expect(first.headers).toEqual({ authorization: "Bearer t1" });
  expect(second).toBe(first);
  await clock.advance(3_000_000);
  expect(await source.current()).toBe(first);
  await clock.advance(600_000);
  expect((await source.current()).headers).toEqual({ authorization: "Bearer t2" });
});

test("a plugin without expiry runs again only after a refusal", async () => {
  const { clock, source } = setUp({ exec: countingPlugin("") });
  await source.current();
  await clock.advance(1e9);
  expect((await source.current()).headers).toEqual({ authorization: "Bearer t1" });
  expect(await source.refresh()).toBe(true);
  expect((await source.current()).headers).toEqual({ authorization: "Bearer t2" });
});

test.each([
  { command: "no-such-plugin", args: [], want: "is not installed\nget it from there" },
  { command: "sh", args: ["-c", "exit 3"], want: "exit code 3" },
  { command: "sh", args: ["-c", "echo hello"], want: "is not JSON" },
  { command: "sh", args: ["-c", "yes"], want: "writes too much" },
])("plugin $command $args fails with a sentence", async ({ command, args, want }) => {
  const exec = { ...countingPlugin(""), command, args, installHint: "get it from there" };
  await expect(setUp({ exec }).source.current()).rejects.toThrow(want);
});

test("basic credentials, certificates and impersonation are carried", async () => {
  const { source } = setUp({
    clientCertificate: { kind: "data", base64: Buffer.from("CERT").toString("base64") },
    clientKey: { kind: "data", base64: Buffer.from("KEY").toString("base64") },
    basic: { username: "ann", password: "pw" },
    impersonate: { user: "bob", groups: ["dev", "ops"], extra: { "ex.io/x": ["1"] } },
  });
  expect(await source.current()).toEqual({
    headers: {
      authorization: `Basic ${Buffer.from("ann:pw").toString("base64")}`,
      "impersonate-user": "bob",
      "impersonate-group": ["dev", "ops"],
      "impersonate-extra-ex.io%2Fx": ["1"],
    },
    certificate: "CERT",
    key: "KEY",
  });
});

test("a kubeconfig file leads to a client's configuration", async () => {
  const path = join(directory, "config");
  await writeFile(join(directory, "ca.crt"), "AUTHORITY");
  await writeFile(
    path,
    `current-context: a
clusters: [{name: a, cluster: {server: "https://x:1", certificate-authority: ca.crt}}]
users: [{name: a, user: {token: t}}]
contexts: [{name: a, context: {cluster: a, user: a}}]`,
  );
  const access = await loadKubeconfig({ paths: [join(directory, "absent"), path] });
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const config = await httpConfigOf({ clock, environment: {} }, access, "test/1");
  expect(config).toMatchObject({ server: "https://x:1", certificateAuthority: "AUTHORITY" });
  expect((await config.credentials.current()).headers).toEqual({ authorization: "Bearer t" });
});

test("a kubeconfig that is nowhere is an error that names where it was searched", async () => {
  await expect(loadKubeconfig({ paths: [join(directory, "absent")] })).rejects.toThrow("absent");
});

test("the kubeconfig is found where kubectl finds it", () => {
  expect(defaultKubeconfigPaths({ HOME: "/nobody" })).toEqual(["/nobody/.kube/config"]);
  expect(defaultKubeconfigPaths({ KUBECONFIG: "/a::/b" })).toEqual(["/a", "/b"]);
});
