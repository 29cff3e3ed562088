/** The certificates that are made are those that TLS takes. */
import { createServer, connect, type TLSSocket } from "node:tls";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { instantOf } from "@lifeboat/base";
import { expect, it } from "vitest";
import { webhookCertificates as maker } from "./webhook-certificates.ts";

const now = instantOf(Date.now());
const DAY_MS = 86_400_000;
const authority = maker.authority(now, 10 * DAY_MS);
const other = maker.authority(now, 10 * DAY_MS);
const hosts = ["lifeboat-webhook.lifeboat-system.svc", "127.0.0.1"];
const serving = maker.serving(authority, hosts, now, DAY_MS);

it("knows whose and for what a certificate is, and when it ends", () => {
  expect(maker.keyFits(authority)).toBe(true);
  expect(maker.keyFits({ ...authority, key: other.key })).toBe(false);
  expect(maker.keyFits({ certificate: "", key: "" })).toBe(false);
  expect(maker.isSignedBy(serving.certificate, authority.certificate)).toBe(true);
  expect(maker.isSignedBy(serving.certificate, other.certificate)).toBe(false);
  expect(hosts.map((host) => maker.covers(serving.certificate, host))).toEqual([true, true]);
  expect(maker.covers(serving.certificate, "elsewhere.svc")).toBe(false);
  expect(Math.abs((maker.notAfter(serving.certificate) ?? 0) - now - DAY_MS)).toBeLessThan(2000);
  expect(maker.notAfter("nonsense")).toBeUndefined();
});

it("takes a bundle apart", () => {
  const bundle = `${authority.certificate}\n${other.certificate}`;
  expect(
    maker.split(bundle).map((pem) => maker.keyFits({ certificate: pem, key: other.key })),
  ).toEqual([false, true]);
  expect(maker.split("")).toEqual([]);
});

it.each([
  ["authority", authority.certificate, undefined],
  ["other authority", other.certificate, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
])("is trusted by its %s alone", async (_name, ca, code) => {
  const server = createServer({ cert: serving.certificate, key: serving.key });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const outcome = await new Promise<string | undefined>((resolve) => {
    const socket: TLSSocket = connect({ port, host: "127.0.0.1", ca }, () => resolve(undefined));
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    socket.unref();
  });
  server.close();
  expect(outcome).toBe(code);
});
