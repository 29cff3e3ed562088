/** Forged certificate requests, made with openssl and by hand: each is read for what it is, and none is granted. */
import { execFileSync } from "node:child_process";
import { generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { der, drainPromises } from "@lifeboat/base/adapters";
import { decideRequest, type RequestView } from "@lifeboat/core/clusters/certificates";
import { makeCertificateRequest } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSigner, readRequest } from "./certificate-signer.ts";
import { openPki } from "./pki.ts";

const NOW = instantOf(Date.parse("2026-01-01T00:00:00Z"));
const AGENT = "system:karmada:agent:eu-1";
const AGENTS = "system:karmada:agents";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "requests-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function openssl(
  subject: string,
  options: { key?: readonly string[]; config?: string } = {},
): string {
  const config = join(directory, "openssl.cnf");
  writeFileSync(
    config,
    `[req]\ndistinguished_name=dn\nstring_mask=utf8only\n[dn]\n${options.config ?? ""}`,
  );
  const key = options.key ?? ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const extensions = options.config === undefined ? [] : ["-reqexts", "ext"];
  const more = ["-nodes", "-keyout", join(directory, "k"), "-utf8", "-subj", subject];
  return execFileSync(
    "openssl",
    ["req", "-new", "-config", config, ...key, ...extensions, ...more],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
}

const subject = (cn: string, o = AGENTS): string => `/O=${o}/CN=${cn}`;

/** A request whose body is given, signed by its own key. */
function handMade(change: (body: Buffer) => Buffer = (body) => body, names?: Buffer): string {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name =
    names ??
    der.name([
      ["O", AGENTS],
      ["CN", AGENT],
    ]);
  const spki = publicKey.export({ type: "spki", format: "der" });
  const body = der.sequence(
    der.integer(Buffer.from([0])),
    name,
    spki,
    der.tagged(0xa0, Buffer.alloc(0)),
  );
  const signature = der.bitString(sign("sha256", body, privateKey), 0);
  return der.pem("CERTIFICATE REQUEST", change(der.sequence(body, der.ECDSA_SHA256, signature)));
}

/** By a bootstrap token, which may register any cluster. */
function view(pem: string, more: Partial<RequestView> = {}): RequestView {
  return {
    signer: "kubernetes.io/kube-apiserver-client",
    made: NOW,
    user: "system:bootstrap:abcdef",
    groups: ["system:bootstrappers", "system:bootstrappers:karmada:default-cluster-token"],
    usages: ["digital signature", "key encipherment", "client auth"],
    expirationSeconds: 86_400,
    isApproved: false,
    isAnswered: false,
    read: readRequest(pem),
    cluster: "absent",
    registration: undefined,
    isLeaving: false,
    tombstone: undefined,
    revoked: undefined,
    isSignedElsewhere: false,
    isDetectorRegistered: false,
    ...more,
  };
}

describe("an honest request is approved and signed", () => {
  test.each([
    [
      "by our agent",
      () => makeCertificateRequest({ commonName: AGENT, organizations: [AGENTS] }).request,
    ],
    ["by openssl", () => openssl(subject(AGENT))],
    [
      "with P-384",
      () =>
        openssl(subject(AGENT), {
          key: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp384r1"],
        }),
    ],
    ["with Ed25519", () => openssl(subject(AGENT), { key: ["-newkey", "ed25519"] })],
    ["with RSA", () => openssl(subject(AGENT), { key: ["-newkey", "rsa:2048"] })],
    ["by hand", () => handMade()],
  ])("%s", async (_how, make) => {
    const pem = make();
    expect(decideRequest(view(pem), NOW)).toMatchObject({ kind: "approve", cluster: "eu-1" });
    const plan = decideRequest(view(pem, { isApproved: true }), NOW);
    if (plan.kind !== "sign") throw new Error(plan.reason);
    const clock = new VirtualClock(NOW, drainPromises);
    const pki = await openPki(clock, join(directory, "pki"));
    const signer = createSigner(() => pki.authority());
    const read = signer.read(pem);
    if ("refusal" in read) throw new Error(read.refusal);
    const { publicKey } = read;
    const signed = new X509Certificate(
      signer.sign({ ...plan.certificate, publicKey, notBefore: NOW }),
    );
    expect(signed.verify(new X509Certificate(pki.ca).publicKey)).toBe(true);
    expect(signed.subject).toBe(`O=${AGENTS}\nCN=${AGENT}`);
    expect(signed.ca).toBe(false);
    expect(signed.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(signed.subjectAltName).toBeUndefined();
    expect(Date.parse(signed.validTo) - NOW).toBe(24 * 3_600_000);
    expect(signed.publicKey.export({ type: "spki", format: "pem" })).toBe(publicKey);
  });
});

const printable = (text: string): Buffer => der.tagged(0x13, Buffer.from(text));
const attribute = (oid: string, value: Buffer): Buffer => der.sequence(der.oid(oid), value);
const set = (...parts: readonly Buffer[]): Buffer => der.tagged(0x31, Buffer.concat(parts));
const O = "2.5.4.10";
const CN = "2.5.4.3";
const extension = (value: string): { readonly config: string } => ({ config: `[ext]\n${value}\n` });

describe("a forged request is denied, and fails when a person approves it", () => {
  const forged: readonly (readonly [string, () => string, string])[] = [
    ["another organization", () => openssl(subject(AGENT, "system:masters")), "WrongSubject"],
    [
      "a second organization",
      () => openssl(`/O=${AGENTS}/O=system:masters/CN=${AGENT}`),
      "WrongSubject",
    ],
    [
      "the organization twice",
      () => openssl(`/O=${AGENTS}/O=${AGENTS}/CN=${AGENT}`),
      "WrongSubject",
    ],
    ["no organization", () => openssl(`/CN=${AGENT}`), "WrongSubject"],
    [
      "two common names",
      () => openssl(`/O=${AGENTS}/CN=system:karmada:agent:eu-2/CN=${AGENT}`),
      "WrongSubject",
    ],
    ["no common name", () => openssl(`/O=${AGENTS}`), "WrongSubject"],
    ["an organizational unit", () => openssl(`/O=${AGENTS}/OU=x/CN=${AGENT}`), "WrongSubject"],
    [
      "a mail address",
      () => openssl(`/O=${AGENTS}/emailAddress=a@b.c/CN=${AGENT}`),
      "WrongSubject",
    ],
    ["no cluster", () => openssl(subject("system:karmada:agent:")), "WrongSubject"],
    ["a path as cluster", () => openssl(subject("system:karmada:agent:..%2fx")), "WrongSubject"],
    ["capitals", () => openssl(subject("system:karmada:agent:EU-1")), "WrongSubject"],
    [
      "a Cyrillic letter in the cluster",
      () => openssl(subject("system:karmada:agent:еu-1")),
      "WrongSubject",
    ],
    [
      "a Cyrillic letter in the user",
      () => openssl(subject("system:karmаda:agent:eu-1")),
      "WrongSubject",
    ],
    [
      "a Cyrillic letter in the organization",
      () => openssl(subject(AGENT, "system:karmada:аgents")),
      "WrongSubject",
    ],
    ["a full-width colon", () => openssl(subject("system：karmada：agent：eu-1")), "WrongSubject"],
    [
      "a zero-width space",
      () => openssl(subject("system:karmada:agent:eu-1\u200b")),
      "WrongSubject",
    ],
    ["a combining mark", () => openssl(subject("system:karmada:agent:eu-1\u0301")), "WrongSubject"],
    [
      "a NUL byte",
      () =>
        handMade(
          undefined,
          der.name([
            ["O", AGENTS],
            ["CN", `${AGENT}\0.x`],
          ]),
        ),
      "WrongSubject",
    ],
    [
      "a line end",
      () =>
        handMade(
          undefined,
          der.name([
            ["O", AGENTS],
            ["CN", `${AGENT}\nO=system:masters`],
          ]),
        ),
      "WrongSubject",
    ],
    [
      "both attributes in one set",
      () =>
        handMade(
          undefined,
          der.sequence(set(attribute(O, printable(AGENTS)), attribute(CN, printable(AGENT)))),
        ),
      "WrongSubject",
    ],
    [
      "a common name that is no text",
      () =>
        handMade(
          undefined,
          der.sequence(
            set(attribute(O, printable(AGENTS))),
            set(attribute(CN, der.integer(Buffer.from([1])))),
          ),
        ),
      "WrongSubject",
    ],
    [
      "another name",
      () => openssl(subject(AGENT), extension("subjectAltName=DNS:plane.example")),
      "WrongExtensions",
    ],
    [
      "an address",
      () => openssl(subject(AGENT), extension("subjectAltName=IP:127.0.0.1")),
      "WrongExtensions",
    ],
    [
      "the CA flag",
      () => openssl(subject(AGENT), extension("basicConstraints=critical,CA:TRUE")),
      "WrongExtensions",
    ],
    [
      "the right to sign certificates",
      () => openssl(subject(AGENT), extension("keyUsage=keyCertSign")),
      "WrongExtensions",
    ],
    [
      "server authentication",
      () => openssl(subject(AGENT), extension("extendedKeyUsage=serverAuth")),
      "WrongExtensions",
    ],
    ["a small key", () => openssl(subject(AGENT), { key: ["-newkey", "rsa:1024"] }), "WrongKey"],
    [
      "a giant key",
      () =>
        openssl(subject(AGENT), {
          key: ["-newkey", "rsa:4608"],
        }),
      "WrongKey",
    ],
    [
      "an unusual curve",
      () =>
        openssl(subject(AGENT), {
          key: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp256k1"],
        }),
      "WrongKey",
    ],
    [
      "a giant subject",
      () =>
        handMade(
          undefined,
          der.name([
            ["O", AGENTS],
            ["CN", `${AGENT}${"x".repeat(20_000)}`],
          ]),
        ),
      "TooLarge",
    ],
  ];
  test.each(forged)("%s", (_what, make, reason) => {
    const pem = make();
    for (const user of ["system:bootstrap:abcdef", AGENT])
      expect(decideRequest(view(pem, { user, groups: view(pem).groups }), NOW)).toMatchObject({
        kind: "deny",
        reason,
      });
    // Approved by a person all the same: what claims to be an agent's is never signed.
    const approved = decideRequest(view(pem, { isApproved: true, user: "admin", groups: [] }), NOW);
    if (reason !== "WrongSubject") expect(approved).toMatchObject({ kind: "fail", reason });
    else expect(approved).not.toMatchObject({ kind: "sign", cluster: "eu-1" });
  });
});

describe("a request that cannot be read is refused in one sentence", () => {
  const flip =
    (at: number) =>
    (bytes: Buffer): Buffer => {
      const copy = Buffer.from(bytes);
      const i = at < 0 ? bytes.length + at : at;
      copy[i] = (copy[i] ?? 0) ^ 1;
      return copy;
    };
  const unreadable: readonly (readonly [string, () => string])[] = [
    ["nothing", () => ""],
    ["no PEM", () => "x"],
    ["a certificate", () => handMade().replaceAll("CERTIFICATE REQUEST", "CERTIFICATE")],
    ["two requests", () => handMade() + handMade()],
    ["an empty block", () => der.pem("CERTIFICATE REQUEST", Buffer.alloc(0))],
    ["half of it", () => handMade((bytes) => bytes.subarray(0, bytes.length / 2))],
    ["all but a byte", () => handMade((bytes) => bytes.subarray(0, -1))],
    ["a byte more", () => handMade((bytes) => Buffer.concat([bytes, Buffer.from([0])]))],
    ["a changed subject", () => handMade(flip(20))],
    ["a changed signature", () => handMade(flip(-1))],
    ["endless nesting", () => der.pem("CERTIFICATE REQUEST", nested(10_000))],
    [
      "a length of exabytes",
      () => der.pem("CERTIFICATE REQUEST", Buffer.from("3087ffffffffffffff", "hex")),
    ],
    ["a megabyte", () => der.pem("CERTIFICATE REQUEST", der.sequence(Buffer.alloc(1_000_000)))],
  ];
  test.each(unreadable)("%s", (_what, make) => {
    const pem = make();
    const started = performance.now();
    const read = readRequest(pem);
    expect(read).toHaveProperty("refusal");
    expect(performance.now() - started).toBeLessThan(2000);
    expect(decideRequest(view(pem), NOW)).toMatchObject({ kind: "deny", reason: "Unreadable" });
    expect(decideRequest(view(pem, { isApproved: true }), NOW)).toMatchObject({ kind: "fail" });
  });

  test("a signature by another key", () => {
    const [first, second] = [handMade(), handMade()].map((pem) =>
      Buffer.from(pem.split("\n").slice(1, -2).join(""), "base64"),
    );
    const mixed = Buffer.concat([
      (first as Buffer).subarray(0, -60),
      (second as Buffer).subarray(-60),
    ]);
    expect(readRequest(der.pem("CERTIFICATE REQUEST", mixed))).toHaveProperty("refusal");
  });

  test("any changed byte that changes what is asked for", () => {
    const bytes = Buffer.from(handMade().split("\n").slice(1, -2).join(""), "base64");
    const whole = readRequest(der.pem("CERTIFICATE REQUEST", bytes));
    let refused = 0;
    for (let i = 0; i < bytes.length; i++) {
      const read = readRequest(der.pem("CERTIFICATE REQUEST", flip(i)(bytes)));
      if ("refusal" in read) refused += 1;
      else expect(read).toEqual(whole);
    }
    expect(refused).toBeGreaterThan(bytes.length - 5);
  });
});

function nested(depth: number): Buffer {
  let inside: Buffer = Buffer.alloc(0);
  for (let i = 0; i < depth; i++) inside = der.sequence(inside);
  return inside;
}
