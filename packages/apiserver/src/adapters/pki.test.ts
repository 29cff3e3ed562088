import { X509Certificate } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeYaml } from "@lifeboat/api";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { afterEach, beforeEach, expect, test } from "vitest";
import { kubeconfigText, openPki, writeKubeconfig } from "./pki.ts";

const DAY = 24 * 60 * 60 * 1000;
const START = instantOf(Date.parse("2026-01-01T00:00:00Z"));
const clock = new VirtualClock(START, () => Promise.resolve());
const later = (days: number): VirtualClock =>
  new VirtualClock(instantOf(START + days * DAY), () => Promise.resolve());

let directory: string;
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), "pki-")), "pki");
});
afterEach(() => rm(join(directory, ".."), { recursive: true, force: true }));

test("certificates are signed by the authority and say who and what for", async () => {
  const pki = await openPki(clock, directory);
  const ca = new X509Certificate(pki.ca);
  expect(ca.ca).toBe(true);
  const server = new X509Certificate((await pki.server(["plane.example", "10.0.0.7"])).certificate);
  expect(server.verify(ca.publicKey)).toBe(true);
  expect(server.checkIssued(ca)).toBe(true);
  for (const host of ["localhost", "plane.example"]) expect(server.checkHost(host)).toBe(host);
  for (const address of ["127.0.0.1", "::1", "10.0.0.7"])
    expect(server.checkIP(address)).toBeDefined();
  expect(server.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  const pair = await pki.client("admin", ["system:masters", "ops"]);
  const client = new X509Certificate(pair.certificate);
  expect(client.subject.split("\n")).toEqual(["O=system:masters", "O=ops", "CN=admin"]);
  expect(client.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
  expect(client.publicKey.asymmetricKeyDetails).toMatchObject({ namedCurve: "prime256v1" });
});

test("everything is loaded again as it was", async () => {
  const first = await openPki(clock, directory);
  const made = [first.ca, await first.server(["h"]), await first.client("u", ["g"])];
  const second = await openPki(clock, directory);
  expect([second.ca, await second.server(["h"]), await second.client("u", ["g"])]).toEqual(made);
});

test("files are for their owner alone, and nothing temporary is left", async () => {
  const pki = await openPki(clock, directory);
  await pki.server([]);
  await pki.client("a/../b", []);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  const files = await readdir(directory);
  expect(files.sort()).toEqual([
    "ca.crt",
    "ca.key",
    "client-a%2F..%2Fb.crt",
    "client-a%2F..%2Fb.key",
    "server.crt",
    "server.key",
  ]);
  for (const file of files) expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
});

test("a certificate is made anew near its end, for other hosts or groups, and when it is damaged", async () => {
  const pki = await openPki(clock, directory);
  const server = await pki.server([]);
  const client = await pki.client("u", ["g"]);
  expect(await (await openPki(later(270), directory)).server([])).toEqual(server);
  const old = await openPki(later(300), directory);
  expect(old.ca).toBe(pki.ca);
  expect(await old.server([])).not.toEqual(server);
  expect(await pki.server(["more.example"])).not.toEqual(server);
  expect(await pki.client("u", ["other"])).not.toEqual(client);
  await writeFile(join(directory, "server.crt"), "rubbish");
  const again = await pki.server([]);
  expect(new X509Certificate(again.certificate).checkHost("localhost")).toBe("localhost");
});

test("a damaged authority is not replaced, one near its end is", async () => {
  const pki = await openPki(clock, directory);
  expect((await openPki(later(3600), directory)).ca).not.toBe(pki.ca);
  const key = await readFile(join(directory, "ca.key"), "utf8");
  await writeFile(join(directory, "ca.key"), key.slice(0, 60));
  await expect(openPki(clock, directory)).rejects.toThrow(
    /certificate authority .* cannot be used/,
  );
});

test("a kubeconfig embeds everything and is for its owner alone", async () => {
  const pki = await openPki(clock, directory);
  const client = await pki.client("admin", ["system:masters"]);
  const entry = { name: 'life"boat', server: "https://127.0.0.1:6443", ca: pki.ca, client };
  const config = decodeYaml(kubeconfigText(entry)).value as unknown as {
    clusters: { cluster: Record<string, string> }[];
    users: { user: Record<string, string> }[];
    contexts: unknown[];
  };
  expect(config).toMatchObject({
    apiVersion: "v1",
    kind: "Config",
    "current-context": 'life"boat',
    contexts: [{ name: 'life"boat', context: { cluster: 'life"boat', user: 'life"boat' } }],
  });
  const decoded = (text: string | undefined): string =>
    Buffer.from(text ?? "", "base64").toString();
  expect(decoded(config.clusters[0]?.cluster["certificate-authority-data"])).toBe(pki.ca);
  expect(decoded(config.users[0]?.user["client-key-data"])).toBe(client.key);
  const path = join(directory, "kubeconfig");
  await writeKubeconfig(path, entry);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});
