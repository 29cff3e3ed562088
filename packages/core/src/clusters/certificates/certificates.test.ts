import type { AnyObject, New } from "@lifeboat/api";
import { addMs, type Instant, instantOf } from "@lifeboat/base";
import { describe, expect, it, test } from "vitest";
import { decideRenewal, expiryStage, nextStageAt, shareLeft } from "./renewal.ts";
import { decideRequest, type RequestFacts, type RequestView } from "./request.ts";
import {
  refusalOf,
  NO_REVOCATIONS,
  readRevocations,
  revokedUntil,
  tombstoneNameFor,
  tombstoneOf,
  tombstoneOver,
  withRevocation,
} from "./revocation.ts";

const NOW = instantOf(Date.parse("2026-01-01T00:00:00Z"));
const HOUR = 3_600_000;
const at = (ms: number): Instant => addMs(NOW, ms);
const AGENT = "system:karmada:agent:eu-1";
const TOKEN = "system:bootstrap:abcdef";
const TOKEN_GROUPS = ["system:bootstrappers", "system:bootstrappers:karmada:default-cluster-token"];
const boundTo = (cluster: string): readonly string[] => [
  "system:bootstrappers",
  `system:bootstrappers:lifeboat:cluster:${cluster}`,
];

function asking(cn: string, ...organizations: readonly string[]): RequestFacts {
  return {
    subject: [
      ...organizations.map((value) => [{ type: "2.5.4.10", value }]),
      [{ type: "2.5.4.3", value: cn }],
    ],
    extensions: [],
    attributes: [],
    keyType: "ec-prime256v1",
    size: 300,
  };
}

const view: RequestView = {
  signer: "kubernetes.io/kube-apiserver-client",
  made: NOW,
  user: TOKEN,
  groups: TOKEN_GROUPS,
  usages: ["client auth", "digital signature"],
  expirationSeconds: 86_400,
  isApproved: false,
  isAnswered: false,
  read: asking(AGENT, "system:karmada:agents"),
  cluster: "absent",
  registration: undefined,
  isLeaving: false,
  tombstone: undefined,
  revoked: undefined,
  isSignedElsewhere: false,
  isDetectorRegistered: false,
};
const renewal: Partial<RequestView> = {
  user: AGENT,
  groups: ["system:karmada:agents", "system:authenticated"],
  cluster: "pull",
};
const bob = asking("bob", "team");
const DETECTOR = "system:lifeboat:detector:eu-1";
const asDetector = asking(DETECTOR, "system:lifeboat:detectors");
const detector: Partial<RequestView> = {
  user: DETECTOR,
  groups: ["system:lifeboat:detectors", "system:authenticated"],
  read: asDetector,
  isDetectorRegistered: true,
};

const elsewhere: Partial<RequestView> = { isSignedElsewhere: true };
const YEAR_SECONDS = 365 * 86_400;

const rows: readonly (readonly [string, Partial<RequestView>, string, string])[] = [
  ["a first registration", {}, "approve", "AgentRegisters"],
  ["a renewal", renewal, "approve", "AgentRenews"],
  [
    "a renewal whose Cluster is not made yet",
    { ...renewal, cluster: "absent" },
    "approve",
    "AgentRenews",
  ],
  [
    "a renewal for another cluster",
    { ...renewal, user: "system:karmada:agent:eu-2" },
    "deny",
    "WrongCluster",
  ],
  [
    "a renewal of a name that was registered and then joined in mode Push",
    { ...renewal, cluster: "push" },
    "deny",
    "NameTaken",
  ],
  [
    "what was approved before the name was joined in mode Push",
    { isApproved: true, cluster: "push" },
    "fail",
    "NameTaken",
  ],
  ["a renewal without the group", { ...renewal, groups: [] }, "deny", "WrongCluster"],
  ["a name that is taken", { cluster: "pull" }, "deny", "NameTaken"],
  [
    "a taken name, by a token for it",
    { cluster: "pull", groups: boundTo("eu-1") },
    "approve",
    "AgentReturns",
  ],
  ["a free name, by a token for it", { groups: boundTo("eu-1") }, "approve", "AgentRegisters"],
  ["a free name, by a token for another", { groups: boundTo("eu-2") }, "deny", "WrongCluster"],
  [
    "the same with the general group",
    { groups: [...TOKEN_GROUPS, ...boundTo("eu-2")] },
    "deny",
    "WrongCluster",
  ],
  ["a name taken in mode Push", { cluster: "push", groups: boundTo("eu-1") }, "deny", "NameTaken"],
  [
    "a registration that another token began",
    { registration: { by: "system:bootstrap:other", until: at(1) } },
    "deny",
    "NameTaken",
  ],
  [
    "the same token again",
    { registration: { by: TOKEN, until: at(HOUR) } },
    "approve",
    "AgentRegisters",
  ],
  [
    "an unfinished registration that has ended",
    { registration: { by: "x", until: NOW } },
    "approve",
    "AgentRegisters",
  ],
  ["a name after its cluster left", { tombstone: at(-1000) }, "approve", "AgentRegisters"],
  ["a name whose cluster leaves this second", { tombstone: NOW }, "wait", "JustLeft"],
  ["a name whose leaving is not finished", { isLeaving: true }, "wait", "JustLeft"],
  ["a renewal of before the leaving", { ...renewal, tombstone: at(HOUR) }, "deny", "Left"],
  [
    "a name that is another's Secret",
    { read: asking("system:karmada:agent:a-impersonator", "system:karmada:agents") },
    "deny",
    "ReservedName",
  ],
  [
    "a writer of agents' rights, which is no agent",
    { read: asking("system:karmada:agent:rbac-generator", "system:karmada:agents") },
    "deny",
    "RightsWriter",
  ],
  [
    "a writer of agents' rights that a person approved",
    {
      isApproved: true,
      read: asking("system:karmada:agent:rbac-generator", "system:karmada:agents"),
    },
    "fail",
    "RightsWriter",
  ],
  [
    "a bootstrap user without the group",
    { groups: ["system:bootstrappers"] },
    "leave",
    "LeftToAPerson",
  ],
  ["the group without a bootstrap user", { user: "mallory" }, "leave", "LeftToAPerson"],
  [
    "a person who asks for an agent",
    { user: "admin", groups: ["system:masters"] },
    "leave",
    "LeftToAPerson",
  ],
  [
    "a person who asks for nearly an agent",
    { user: "admin", groups: [], read: asking("System:Karmada:Agent:eu-1", "x") },
    "deny",
    "WrongSubject",
  ],
  [
    "a person who asks for a person",
    { user: "admin", groups: [], read: bob },
    "leave",
    "LeftToAPerson",
  ],
  ["a token that asks for a person", { read: bob }, "deny", "WrongSubject"],
  ["an agent that asks for a person", { ...renewal, read: bob }, "deny", "WrongSubject"],
  [
    "a token that asks for masters",
    { read: asking("admin", "system:masters") },
    "deny",
    "WrongSubject",
  ],
  [
    "what no one can read, by a person",
    { user: "x", groups: [], read: { refusal: "r" } },
    "leave",
    "LeftToAPerson",
  ],
  ["another signer", { signer: "kubernetes.io/kubelet-serving" }, "leave", "LeftToAPerson"],
  ["another signer, approved", { signer: "a.b/c", isApproved: true }, "leave", "LeftToAPerson"],
  ["no client authentication", { usages: ["digital signature"] }, "deny", "WrongUsages"],
  ["server authentication too", { usages: ["client auth", "server auth"] }, "deny", "WrongUsages"],
  ["the right to sign", { usages: ["client auth", "cert sign"] }, "deny", "WrongUsages"],
  ["an answered one", { isAnswered: true }, "leave", "Answered"],
  ["an approved one", { isApproved: true }, "sign", "Signed"],
  ["an approved one whose cluster left", { isApproved: true, tombstone: NOW }, "wait", "JustLeft"],
  [
    "the same a second later",
    { isApproved: true, made: at(-2000), tombstone: at(-1000) },
    "fail",
    "Left",
  ],
  ["a person, approved", { isApproved: true, user: "x", read: bob }, "sign", "Signed"],
  ["a detector that renews", detector, "approve", "DetectorRenews"],
  [
    "a detector of a Cluster that left",
    { ...detector, isDetectorRegistered: false },
    "deny",
    "NoDetector",
  ],
  [
    "a detector that asks for another cluster's",
    {
      ...detector,
      read: asking("system:lifeboat:detector:eu-2", "system:lifeboat:detectors"),
    },
    "deny",
    "WrongCluster",
  ],
  ["a detector without its group", { ...detector, groups: [] }, "deny", "WrongCluster"],
  [
    "a user with the group of detectors and another name",
    { ...detector, user: "bob" },
    "deny",
    "WrongCluster",
  ],
  [
    "a detector that asks for its cluster's agent",
    { ...detector, read: view.read },
    "deny",
    "WrongSubject",
  ],
  [
    "a detector that asks for masters",
    { ...detector, read: asking(DETECTOR, "system:masters") },
    "deny",
    "WrongSubject",
  ],
  [
    "a detector that asks for one group more",
    { ...detector, read: asking(DETECTOR, "system:lifeboat:detectors", "system:masters") },
    "deny",
    "WrongSubject",
  ],
  ["a detector that asks for a person", { ...detector, read: bob }, "deny", "WrongSubject"],
  [
    "a detector that asks for other names",
    { ...detector, read: { ...asDetector, extensions: ["2.5.29.17"] } },
    "deny",
    "WrongExtensions",
  ],
  [
    "a detector that asks to serve",
    { ...detector, usages: ["client auth", "server auth"] },
    "deny",
    "WrongUsages",
  ],
  [
    "a detector whose request cannot be read",
    { ...detector, read: { refusal: "r" } },
    "deny",
    "Unreadable",
  ],
  ["an agent that asks for a detector", { ...renewal, read: asDetector }, "deny", "WrongSubject"],
  ["a token that asks for a detector", { read: asDetector }, "deny", "WrongSubject"],
  [
    "a person asks for a detector",
    { user: "admin", groups: ["system:masters"], read: asDetector },
    "leave",
    "LeftToAPerson",
  ],
  [
    "a detector that a person approved",
    { user: "admin", isApproved: true, read: asDetector },
    "sign",
    "Signed",
  ],
  [
    "nearly a detector that a person approved",
    {
      user: "admin",
      isApproved: true,
      read: asking("system:lifeboat:detеctor:eu-1", "system:lifeboat:detectors"),
    },
    "fail",
    "WrongSubject",
  ],
  [
    "masters, approved",
    { isApproved: true, user: "x", read: asking("a", "system:masters") },
    "fail",
    "WrongSubject",
  ],
  [
    "an agent that leaves its life to another process",
    { ...renewal, ...elsewhere, expirationSeconds: undefined },
    "deny",
    "TooLong",
  ],
  [
    "an agent that asks another process for a second more than a day",
    { ...renewal, ...elsewhere, expirationSeconds: 86_401 },
    "deny",
    "TooLong",
  ],
  [
    "an agent that asks another process for no life at all",
    { ...renewal, ...elsewhere, expirationSeconds: 0 },
    "deny",
    "TooLong",
  ],
  [
    "an agent that asks another process for a day",
    { ...renewal, ...elsewhere },
    "approve",
    "AgentRenews",
  ],
  ["a registration for a day, signed elsewhere", elsewhere, "approve", "AgentRegisters"],
  [
    "a registration for a year, signed elsewhere",
    { ...elsewhere, expirationSeconds: YEAR_SECONDS },
    "deny",
    "TooLong",
  ],
  [
    "a registration for a year, signed here, where it is cut short",
    { expirationSeconds: YEAR_SECONDS },
    "approve",
    "AgentRegisters",
  ],
  [
    "a detector that asks another process for a year",
    { ...detector, ...elsewhere, expirationSeconds: YEAR_SECONDS },
    "approve",
    "DetectorRenews",
  ],
  [
    "a detector that asks another process for more",
    { ...detector, ...elsewhere, expirationSeconds: YEAR_SECONDS + 1 },
    "deny",
    "TooLong",
  ],
  [
    "a detector that leaves its life to another process",
    { ...detector, ...elsewhere, expirationSeconds: undefined },
    "deny",
    "TooLong",
  ],
  [
    "a person who asks another process for an agent of a year",
    { ...elsewhere, user: "admin", groups: ["system:masters"], expirationSeconds: YEAR_SECONDS },
    "leave",
    "LeftToAPerson",
  ],
  ["a renewal of before a revocation", { ...renewal, revoked: NOW }, "deny", "Revoked"],
  ["a renewal of after a revocation", { ...renewal, revoked: at(-1000) }, "approve", "AgentRenews"],
  [
    "a renewal that was approved before it",
    { ...renewal, isApproved: true, revoked: NOW },
    "fail",
    "Revoked",
  ],
  ["a detector's of before a revocation", { ...detector, revoked: NOW }, "deny", "Revoked"],
  [
    "a person's of before it, approved",
    { isApproved: true, user: "x", read: bob, revoked: NOW },
    "fail",
    "Revoked",
  ],
  [
    "a person's of after it, approved",
    { isApproved: true, user: "x", read: bob, revoked: at(-1000) },
    "sign",
    "Signed",
  ],
  [
    "no user, approved",
    { isApproved: true, user: "x", read: asking("", "a") },
    "fail",
    "WrongSubject",
  ],
];

test.each(rows)("%s: %j", (_what, more, kind, reason) => {
  expect(decideRequest({ ...view, ...more }, NOW)).toMatchObject({ kind, reason });
});

test.each([
  [AGENT, 3600, HOUR],
  [AGENT, 864_000, 24 * HOUR],
  [AGENT, undefined, 24 * HOUR],
  ["bob", undefined, 365 * 24 * HOUR],
  ["bob", 10 ** 9, 365 * 24 * HOUR],
  ["bob", 600, 600_000],
  [DETECTOR, 10 ** 9, 365 * 24 * HOUR],
  [DETECTOR, 86_400, 24 * HOUR],
])("a certificate for %s that asks for %s seconds lives %d ms", (user, expirationSeconds, life) => {
  const read = user === AGENT ? view.read : user === DETECTOR ? asDetector : bob;
  const plan = decideRequest({ ...view, read, expirationSeconds, isApproved: true }, NOW);
  expect(plan).toMatchObject({ certificate: { user, notAfter: at(life) } });
});

test.each([
  [AGENT, 3600, HOUR],
  [AGENT, YEAR_SECONDS, 365 * 24 * HOUR],
  [AGENT, undefined, 365 * 24 * HOUR],
  [DETECTOR, undefined, 365 * 24 * HOUR],
])(
  "what a person approved for %s, for %s seconds, is noted as long as another process may sign it",
  (user, expirationSeconds, life) => {
    const read = user === AGENT ? view.read : asDetector;
    const plan = decideRequest(
      { ...view, ...elsewhere, read, expirationSeconds, isApproved: true },
      NOW,
    );
    expect(plan).toMatchObject({ certificate: { user, notAfter: at(life) } });
  },
);

describe("revocation", () => {
  const certificate = { serial: "0A1B", user: AGENT, issued: NOW };
  const tombstone = (left: number): AnyObject =>
    tombstoneOf("eu-1", at(left), undefined) as New<AnyObject> as AnyObject;

  it("refuses an agent of before the tombstone, and takes one of after it", () => {
    expect(refusalOf(certificate, NO_REVOCATIONS, undefined)).toBeUndefined();
    expect(refusalOf(certificate, NO_REVOCATIONS, tombstone(0))).toBe("ClusterLeft");
    expect(refusalOf(certificate, NO_REVOCATIONS, tombstone(HOUR))).toBe("ClusterLeft");
    expect(refusalOf(certificate, NO_REVOCATIONS, tombstone(-1000))).toBeUndefined();
    expect(tombstoneNameFor(AGENT)).toBe("tombstone-eu-1");
    expect(tombstoneNameFor("bob")).toBeUndefined();
  });

  it("by serial or by user holds for what was issued until then, and ends with the certificate", () => {
    const bySerial = withRevocation(
      {},
      { serial: "a1b", user: AGENT, until: at(HOUR), before: NOW },
      NOW,
    );
    const both = withRevocation(bySerial, { user: "bob", before: NOW }, at(HOUR - 1));
    expect(Object.keys(both)).toEqual(["serial-a1b", "user-626f62"]);
    const revoked = readRevocations({ data: both } as unknown as AnyObject);
    expect(refusalOf(certificate, revoked, undefined)).toBe("CertificateRevoked");
    expect(refusalOf({ ...certificate, serial: "0A1C" }, revoked, undefined)).toBeUndefined();
    expect(refusalOf({ serial: "1", user: "bob", issued: NOW }, revoked, undefined)).toBe(
      "CertificateRevoked",
    );
    expect(
      refusalOf({ serial: "1", user: "bob", issued: at(1000) }, revoked, undefined),
    ).toBeUndefined();
    const later = withRevocation(both, { user: "eve", before: NOW }, at(HOUR));
    expect(Object.keys(later)).toEqual(["user-626f62", "user-657665"]);
  });

  it("denies what its user asked for until then, by user or by serial", () => {
    const bySerial = withRevocation(
      {},
      { serial: "a1b", user: AGENT, until: at(HOUR), before: at(-1000) },
      NOW,
    );
    const data = withRevocation(bySerial, { user: "bob", before: NOW }, NOW);
    const revoked = readRevocations({
      data: { ...data, "serial-1": '{"user":"old","until":"2027-01-01T00:00:00Z"}' },
    } as unknown as AnyObject);
    expect(revokedUntil(revoked, [AGENT])).toBe(at(-1000));
    expect(revokedUntil(revoked, ["eve", AGENT, "bob"])).toBe(NOW);
    expect(revokedUntil(revoked, ["eve", "old"])).toBeUndefined();
  });

  it("by a tombstone keeps the later of each time, and what cannot be read", () => {
    const over = (before: object | undefined, left: number, until?: number) =>
      tombstoneOver(
        before === undefined ? undefined : ({ data: before } as unknown as AnyObject),
        "eu-1",
        at(left),
        until === undefined ? undefined : at(until),
      )["data"];
    const first = over(undefined, 0, 2 * HOUR);
    expect(first).toEqual({
      refusedBefore: "2026-01-01T00:00:00Z",
      issuedUntil: "2026-01-01T02:00:00Z",
    });
    expect(over(first as object, HOUR)).toMatchObject({
      refusedBefore: "2026-01-01T01:00:00Z",
      issuedUntil: "2026-01-01T02:00:00Z",
    });
    expect(over(first as object, -HOUR, 3 * HOUR)).toEqual({
      refusedBefore: "2026-01-01T00:00:00Z",
      issuedUntil: "2026-01-01T03:00:00Z",
    });
    expect(over(first as object, HOUR, HOUR)).toMatchObject({
      issuedUntil: "2026-01-01T02:00:00Z",
    });
    expect(over({ refusedBefore: "x", issuedUntil: "y" }, HOUR, HOUR)).toEqual({
      refusedBefore: "x",
      issuedUntil: "y",
    });
  });

  it("that is damaged refuses all the same", () => {
    const damaged = { data: { refusedBefore: "yesterday" } } as unknown as AnyObject;
    expect(refusalOf(certificate, NO_REVOCATIONS, damaged)).toBe("ClusterLeft");
    const revoked = readRevocations({
      data: { "serial-0a1b": "{", "user-626f62": '{"user":"bob"}' },
    } as unknown as AnyObject);
    expect(refusalOf(certificate, revoked, undefined)).toBe("CertificateRevoked");
    expect(refusalOf({ serial: "1", user: "bob", issued: at(HOUR) }, revoked, undefined)).toBe(
      "CertificateRevoked",
    );
  });
});

describe("renewal", () => {
  const life = { notBefore: NOW, notAfter: at(100 * HOUR) };

  test.each([
    [0, 80],
    [0.5, 75],
    [1, 70],
  ])("by the chance %d is due after %d of 100 hours", (chance, hours) => {
    expect(decideRenewal(life, chance)).toBe(at(hours * HOUR));
  });

  test.each([
    [0, 1, "fine", 70],
    [69.9, 0.301, "fine", 70],
    [70, 0.3, "ending", 90],
    [90, 0.1, "last", 100],
    [100, 0, "ended", undefined],
    [1000, 0, "ended", undefined],
  ])("after %d hours the share left is %d: %s", (hours, left, stage, next) => {
    const now = at(hours * HOUR);
    expect(shareLeft(life, now)).toBeCloseTo(left, 3);
    expect(expiryStage(life, now)).toBe(stage);
    expect(nextStageAt(life, now)).toBe(next === undefined ? undefined : at(next * HOUR));
  });

  it("of a certificate without a life is due at once", () => {
    const none = { notBefore: NOW, notAfter: at(-1) };
    expect(decideRenewal(none, 0.5)).toBe(NOW);
    expect(expiryStage(none, NOW)).toBe("ended");
  });
});
