import { execFileSync } from "node:child_process";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { expect, test } from "vitest";
import { makeCertificateRequest } from "./certificate-request.ts";

const agent = {
  commonName: "system:karmada:agent:eu-1",
  organizations: ["system:karmada:agents"],
};

function opensslText(request: string): string {
  const options = ["req", "-noout", "-verify", "-subject", "-pubkey", "-nameopt", "multiline,utf8"];
  return execFileSync("openssl", options, {
    input: request,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
  });
}

test("a request is signed by its own key and names the subject", () => {
  const { request, key } = makeCertificateRequest(agent);
  const text = opensslText(request);
  expect(text).toMatch(/organizationName\s+= system:karmada:agents\n/);
  expect(text).toMatch(/commonName\s+= system:karmada:agent:eu-1\n/);
  const asked = /-----BEGIN PUBLIC KEY-----[^]*-----END PUBLIC KEY-----\n/.exec(text)?.[0] ?? "";
  const own = createPublicKey(createPrivateKey(key));
  expect(createPublicKey(asked).equals(own)).toBe(true);
});

test("every request has a key of its own", () => {
  expect(makeCertificateRequest(agent).key).not.toBe(makeCertificateRequest(agent).key);
});

test("lengths beyond one, two and three bytes are written as openssl reads them", () => {
  for (const length of [120, 200, 300, 70_000]) {
    const organizations = [`o${"x".repeat(length)}`];
    const { request } = makeCertificateRequest({ commonName: "u", organizations });
    expect(opensslText(request)).toContain(`= o${"x".repeat(length)}\n`);
  }
});
