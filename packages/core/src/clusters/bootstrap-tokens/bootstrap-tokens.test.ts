import type { AnyObject } from "@lifeboat/api";
import { addMs, formatTime, instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import {
  bootstrapTokenId,
  bootstrapTokenOf,
  decideUse,
  fieldOf,
  isExpired,
  parseBootstrapToken,
  toBase64,
  tokenFields,
} from "./bootstrap-tokens.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1));

function secretOf(
  fields: Readonly<Record<string, string>>,
  type = "bootstrap.kubernetes.io/token",
) {
  const data = Object.fromEntries(
    Object.entries({ "token-id": "abcdef", ...fields }).map(([key, value]) => [
      key,
      toBase64(value),
    ]),
  );
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system", resourceVersion: "7" },
    type,
    data,
  } as unknown as AnyObject;
}

describe("the form of a token", () => {
  it.each([
    ["abcdef.0123456789abcdef", { id: "abcdef", secret: "0123456789abcdef" }],
    ["abcdef.0123456789abcde", undefined],
    ["ABCDEF.0123456789abcdef", undefined],
    ["abcdef.0123456789abcdef\n", undefined],
    ["abcdef-0123456789abcdef", undefined],
    ["", undefined],
  ])("%j", (text, parts) => {
    expect(parseBootstrapToken(text)).toEqual(parts);
  });

  it("its user names it", () => {
    expect(bootstrapTokenId("system:bootstrap:abcdef")).toBe("abcdef");
    expect(bootstrapTokenId("system:bootstrap:abcdef:x")).toBeUndefined();
    expect(bootstrapTokenId("system:node:abcdef")).toBeUndefined();
  });
});

describe("reading a Secret", () => {
  it("takes only Secrets of its type whose name is that of the token", () => {
    expect(bootstrapTokenOf(secretOf({}))).toMatchObject({ id: "abcdef", usedBy: "" });
    expect(bootstrapTokenOf(secretOf({}, "Opaque"))).toBeUndefined();
    expect(bootstrapTokenOf(secretOf({ "token-id": "ghijkl" }))).toBeUndefined();
    const elsewhere = secretOf({});
    const moved = { ...elsewhere, metadata: { ...elsewhere.metadata, namespace: "default" } };
    expect(bootstrapTokenOf(moved)).toBeUndefined();
  });

  it("takes only groups below system:bootstrappers", () => {
    const groups = "system:bootstrappers:karmada:x, system:masters,system:bootstrappers";
    expect(bootstrapTokenOf(secretOf({ "auth-extra-groups": groups }))?.groups).toEqual([
      "system:bootstrappers:karmada:x",
    ]);
  });

  it("an end that cannot be read has passed", () => {
    const token = bootstrapTokenOf(secretOf({ expiration: "tomorrow" }));
    expect(isExpired(token!, NOW)).toBe(true);
    expect(isExpired(bootstrapTokenOf(secretOf({ expiration: formatTime(NOW) }))!, NOW)).toBe(true);
    const later = secretOf({ expiration: formatTime(addMs(NOW, 1000)) });
    expect(isExpired(bootstrapTokenOf(later)!, NOW)).toBe(false);
  });

  it.each<[string, string, number | undefined, number]>([
    ["no end", "system:bootstrappers:karmada:default-cluster-token", undefined, 3600],
    ["a later end", "system:bootstrappers:lifeboat:cluster:eu-1", 7200, 3600],
    ["an earlier end", "system:bootstrappers:karmada:default-cluster-token", 60, 60],
    ["of others: a later end", "system:bootstrappers:kubeadm:default-node-token", 7200, 7200],
  ])("one that registers clusters lives for an hour at most: %s", (_what, group, given, lives) => {
    const end = given === undefined ? {} : { expiration: formatTime(addMs(NOW, given * 1000)) };
    const secret = secretOf({ "auth-extra-groups": group, ...end });
    const made = { ...secret.metadata, creationTimestamp: formatTime(NOW) };
    const token = bootstrapTokenOf({ ...secret, metadata: made });
    expect(token?.expires).toBe(addMs(NOW, lives * 1000));
  });

  it("bytes that are no text read as nothing", () => {
    const broken = { ...secretOf({}), data: { a: "/w==", b: "!" } } as unknown as AnyObject;
    expect([fieldOf(broken, "a"), fieldOf(broken, "b"), fieldOf(broken, "c")]).toEqual([
      "",
      "",
      "",
    ]);
  });
});

describe("using a token", () => {
  const use = { cluster: "eu-1", key: "k1" };
  const live = { expiration: formatTime(addMs(NOW, 60_000)) };

  it.each<[string, AnyObject | undefined, boolean, string]>([
    ["none", undefined, false, "NoToken"],
    ["another Secret", secretOf({}, "Opaque"), false, "NoToken"],
    ["fresh", secretOf(live), true, "Taken"],
    ["expired", secretOf({ expiration: formatTime(NOW) }), false, "Expired"],
    ["for this cluster", secretOf({ ...live, cluster: "eu-1" }), true, "Taken"],
    ["for another cluster", secretOf({ ...live, cluster: "eu-2" }), false, "OtherCluster"],
    [
      "taken by the same key",
      secretOf({ ...live, "used-by-key": "k1", "used-for-cluster": "eu-1" }),
      true,
      "TakenBefore",
    ],
    [
      "taken by the same key, expired since",
      secretOf({ expiration: formatTime(NOW), "used-by-key": "k1", "used-for-cluster": "eu-1" }),
      true,
      "TakenBefore",
    ],
    [
      "taken by the same key for another cluster",
      secretOf({ ...live, "used-by-key": "k1", "used-for-cluster": "eu-2" }),
      false,
      "UsedByAnother",
    ],
    [
      "taken by another key",
      secretOf({ ...live, "used-by-key": "k2", "used-for-cluster": "eu-1" }),
      false,
      "UsedByAnother",
    ],
  ])("%s", (_name, secret, allowed, reason) => {
    expect(decideUse(secret, use, NOW)).toMatchObject({ allowed, reason });
  });

  it("what it writes carries the version that was read, and is then taken", () => {
    const secret = secretOf({ ...live, [tokenFields.hash]: "h" });
    const { write } = decideUse(secret, use, NOW);
    expect(write?.metadata.resourceVersion).toBe("7");
    expect(bootstrapTokenOf(write!)).toMatchObject({ hash: "h", usedBy: "k1", usedFor: "eu-1" });
    expect(decideUse(write, use, NOW)).toEqual({ allowed: true, reason: "TakenBefore" });
    expect(decideUse(write, { ...use, key: "k2" }, NOW)).toMatchObject({ reason: "UsedByAnother" });
  });
});
