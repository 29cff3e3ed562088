import type { AnyObject } from "@lifeboat/api";
import { addMs, formatTime, instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { toBase64 } from "./bootstrap-tokens.ts";
import { decideTokenCare, signKubeconfig } from "./cluster-info.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1));

it("signs as existing clients do", () => {
  const text = "Hello from the other side. I must have called a thousand times.";
  // The key is the secret part; what is signed is the header and the text. Real hashes: plane/src/bootstrap-tokens.
  const signed = `eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9.${btoa(text).replaceAll("=", "")}`;
  const hmac = (key: string, given: string): string =>
    key === "my voice is my passcode" && given === signed
      ? "VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8"
      : "wrong";
  expect(signKubeconfig(text, { id: "joshua", secret: "my voice is my passcode" }, hmac)).toBe(
    "eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8",
  );
});

function secret(
  id: string,
  lifeMs: number,
  fields: Readonly<Record<string, string>> = {},
): AnyObject {
  const all: Readonly<Record<string, string>> = {
    "token-id": id,
    expiration: formatTime(addMs(NOW, lifeMs)),
    "usage-bootstrap-signing": "true",
    "jws-kubeconfig": `signature-${id}`,
    ...fields,
  };
  const data = Object.fromEntries(
    Object.entries(all).map(([key, value]) => [key, toBase64(value)]),
  );
  return {
    metadata: { name: `bootstrap-token-${id}`, namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    data,
  } as unknown as AnyObject;
}

const info = (data: Readonly<Record<string, string>>): AnyObject =>
  ({ metadata: { name: "cluster-info" }, data }) as unknown as AnyObject;

it("cluster-info bears the signatures of live tokens that sign, and no others", () => {
  const before = info({ kubeconfig: "k", other: "o", "jws-kubeconfig-gone00": "x" });
  const live = secret("live00", 2000);
  const expired = secret("old000", 0);
  const mute = secret("mute00", 1000, { "usage-bootstrap-signing": "false" });
  const care = decideTokenCare(before, [live, expired, mute], NOW);
  expect(care.clusterInfo?.["data"]).toEqual({
    kubeconfig: "k",
    other: "o",
    "jws-kubeconfig-live00": "signature-live00",
  });
  expect(care.expired).toEqual([expired]);
  expect(care.checkAgainAt).toBe(addMs(NOW, 1000));
  expect(decideTokenCare(care.clusterInfo, [live, mute], NOW)).toEqual({
    expired: [],
    checkAgainAt: addMs(NOW, 1000),
  });
});

it("without a cluster-info nothing is written, and expired tokens still go", () => {
  const expired = secret("old000", -1);
  expect(decideTokenCare(undefined, [expired], NOW)).toEqual({ expired: [expired] });
});

describe("where the secret parts are stored", () => {
  const OURS = { "auth-extra-groups": "system:bootstrappers:karmada:default-cluster-token" };
  const hmac = (key: string, text: string): string => `${key}(${text.length})`;
  const stored = (id: string, lifeMs: number, fields: Readonly<Record<string, string>> = {}) =>
    secret(id, lifeMs, { "token-secret": `of-${id}`, ...OURS, ...fields });

  it("signs by live tokens that register clusters, as another signer of the same server would", () => {
    const before = info({ kubeconfig: "k", "jws-kubeconfig-gone00": "x" });
    const { clusterInfo, expired } = decideTokenCare(
      before,
      [stored("live00", 1000), stored("mute00", 1000, { "usage-bootstrap-signing": "false" })],
      NOW,
      hmac,
    );
    const by = { id: "live00", secret: "of-live00" };
    expect(clusterInfo?.["data"]).toEqual({
      kubeconfig: "k",
      "jws-kubeconfig-live00": signKubeconfig("k", by, hmac),
    });
    expect(expired).toEqual([]);
    expect(decideTokenCare(clusterInfo, [stored("live00", 1000)], NOW, hmac)).not.toHaveProperty(
      "clusterInfo",
    );
  });

  it("leaves tokens of others, and what they signed, as they are", () => {
    const before = info({ kubeconfig: "k", "jws-kubeconfig-nodes0": "by another signer" });
    const nodes = { "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token" };
    const others = [stored("nodes0", -1000, nodes), stored("nodes1", 1000, nodes)];
    expect(decideTokenCare(before, others, NOW, hmac)).toEqual({ expired: [] });
  });

  it("signs nothing without a kubeconfig or a secret part", () => {
    expect(decideTokenCare(info({}), [stored("live00", 1000)], NOW, hmac)).not.toHaveProperty(
      "clusterInfo",
    );
    const without = stored("live00", 1000, { "token-secret": "" });
    expect(decideTokenCare(info({ kubeconfig: "k" }), [without], NOW, hmac)).not.toHaveProperty(
      "clusterInfo",
    );
  });
});
