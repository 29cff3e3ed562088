import { X509Certificate } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeYaml } from "@lifeboat/api";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { kubeconfigText, writeKubeconfig } from "@lifeboat/kit/adapters";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commitAuthority, finishAuthority, openPki, prepareAuthority } from "./pki.ts";

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
  expect(await (await openPki(later(240), directory)).server([])).toEqual(server);
  const old = await openPki(later(250), directory);
  expect(old.ca).toBe(pki.ca);
  expect(await old.server([])).not.toEqual(server);
  expect(await pki.server(["more.example"])).not.toEqual(server);
  expect(await pki.client("u", ["other"])).not.toEqual(client);
  await writeFile(join(directory, "server.crt"), "rubbish");
  const again = await pki.server([]);
  expect(new X509Certificate(again.certificate).checkHost("localhost")).toBe("localhost");
});

test("a damaged authority is not replaced", async () => {
  await openPki(clock, directory);
  const key = await readFile(join(directory, "ca.key"), "utf8");
  await writeFile(join(directory, "ca.key"), key.slice(0, 60));
  await expect(openPki(clock, directory)).rejects.toThrow(
    /certificate authority .* cannot be used/,
  );
});

test("an authority near its end gets a next one beside it, which takes over while both are trusted", async () => {
  const pki = await openPki(clock, directory);
  const near = await openPki(later(3540), directory);
  expect(near.ca).toBe(pki.ca);
  expect(near.rotation).toBe("prepared");
  const next = near.bundle.slice(pki.ca.length);
  expect((await openPki(later(3541), directory)).bundle).toBe(pki.ca + next);
  const committed = await openPki(later(3621), directory);
  expect([committed.ca, committed.bundle]).toEqual([next, next + pki.ca]);
  const ended = await openPki(later(3651), directory);
  expect([ended.ca, ended.bundle, ended.rotation]).toEqual([next, next, "none"]);
});

test("an authority that ended while nothing ran is replaced at once", async () => {
  const pki = await openPki(clock, directory);
  const ended = await openPki(later(4000), directory);
  expect(ended.ca).not.toBe(pki.ca);
  expect(ended.bundle).toBe(ended.ca);
});

test("over ten years of a plane that runs, no certificate of its own comes near its end", async () => {
  const moving = new VirtualClock(START, () => Promise.resolve());
  const pki = await openPki(moving, directory);
  const seen = { authorities: new Set<string>(), servers: new Set<string>() };
  let trusted = pki.bundle;
  for (let fortnight = 0; fortnight < 280; fortnight++) {
    await moving.advance(14 * DAY);
    await pki.reload();
    const [server, client] = [await pki.server([]), await pki.client("admin", ["system:masters"])];
    for (const { certificate } of [server, client]) {
      const { validTo } = new X509Certificate(certificate);
      expect(Date.parse(validTo) - moving.now()).toBeGreaterThan(0.3 * 365 * DAY - 14 * DAY);
      // Signed by what clients have known for two weeks at least.
      const isKnown = (trusted.match(/-----BEGIN[^]*?-----END CERTIFICATE-----\n/g) ?? []).some(
        (ca) => new X509Certificate(certificate).verify(new X509Certificate(ca).publicKey),
      );
      expect(isKnown).toBe(true);
    }
    expect(new X509Certificate(pki.ca).validTo).toSatisfy(
      (end: string) => Date.parse(end) - moving.now() > 15 * DAY,
    );
    trusted = pki.bundle;
    seen.authorities.add(pki.ca);
    seen.servers.add(server.certificate);
  }
  expect(seen.authorities.size).toBe(2);
  expect(seen.servers.size).toBeGreaterThan(14);
});

test("an authority is replaced in steps, and both are trusted between", async () => {
  const pki = await openPki(clock, directory);
  const first = pki.ca;
  const client = await pki.client("u", []);
  await prepareAuthority(clock, directory);
  await prepareAuthority(clock, directory);
  expect(await pki.reload()).toBe(true);
  expect(await pki.reload()).toBe(false);
  expect([pki.ca, pki.rotation]).toEqual([first, "prepared"]);
  expect(await pki.client("u", [])).toEqual(client);
  const second = pki.bundle.slice(first.length);
  expect(await commitAuthority(clock, directory)).toBe(true);
  expect(await commitAuthority(clock, directory)).toBe(false);
  await pki.reload();
  expect([pki.ca, pki.bundle, pki.rotation]).toEqual([second, second + first, "committed"]);
  const renewed = new X509Certificate((await pki.client("u", [])).certificate);
  expect(renewed.verify(new X509Certificate(second).publicKey)).toBe(true);
  expect(await finishAuthority(clock, directory)).toBe(true);
  await pki.reload();
  expect([pki.bundle, pki.rotation]).toEqual([second, "none"]);
});

test("a commit that was cut off at any write is finished by the next one that opens", async () => {
  const pki = await openPki(clock, directory);
  const first = pki.ca;
  await prepareAuthority(clock, directory);
  await pki.reload();
  const second = pki.bundle.slice(first.length);
  const read = (file: string): Promise<string> => readFile(join(directory, file), "utf8");
  const write = (file: string, text: string): Promise<void> =>
    writeFile(join(directory, file), text, { mode: 0o600 });
  // As commitAuthority writes: the old pair, then the key and the certificate of the new one.
  await write("ca-old.key", await read("ca.key"));
  expect((await openPki(clock, directory)).ca).toBe(first);
  await write("ca-old.crt", first);
  expect((await openPki(clock, directory)).ca).toBe(first);
  await write("ca.key", await read("ca-next.key"));
  const opened = await openPki(clock, directory);
  expect([opened.ca, opened.bundle]).toEqual([second, second + first]);
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
