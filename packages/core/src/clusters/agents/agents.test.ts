import type { AnyObject, Cluster, Condition } from "@lifeboat/api";
import { describe, expect, it, test } from "vitest";
import { agentSupport, decideAgentSupport, knowsEndorsement } from "./agents.ts";

const NOW = "2026-01-01T00:00:10.000000Z";
const BEFORE = "2026-01-01T00:00:00.000000Z";
const OURS = `v1 ${NOW}`;

const lease = (value?: string, renewTime: string | undefined = NOW): AnyObject =>
  ({
    metadata: value === undefined ? {} : { annotations: { "lifeboat.dev/endorsement": value } },
    spec: renewTime === "" ? {} : { renewTime },
  }) as unknown as AnyObject;

function cluster(syncMode: "Push" | "Pull", status?: Condition["status"], reason = ""): Cluster {
  const conditions = status === undefined ? [] : [{ type: "AgentSupported", status, reason }];
  return { metadata: { name: "p1" }, spec: { syncMode }, status: { conditions } } as never;
}

test("an agent is known to know endorsement by the annotation of its last renewal", () => {
  expect(knowsEndorsement(lease(OURS))).toBe(true);
  expect(knowsEndorsement(lease(`v2 ${NOW}`))).toBe(false);
  expect(knowsEndorsement(lease("v1"))).toBe(false);
  expect(knowsEndorsement(lease("v1 ", ""))).toBe(false);
  expect(knowsEndorsement(lease())).toBe(false);
  expect(knowsEndorsement(undefined)).toBe(false);
});

test("what an agent announced with an earlier renewal does not count for the one that renews in its place", () => {
  expect(knowsEndorsement(lease(`v1 ${BEFORE}`))).toBe(false);
  const plan = decideAgentSupport(
    cluster("Pull", "True", "EndorsementKnown"),
    lease(`v1 ${BEFORE}`),
  );
  expect(plan).toMatchObject({ status: "False", reason: "EndorsementUnknown" });
});

describe("what the Cluster shows about its agent", () => {
  it.each([
    ["Push", undefined, "supported"],
    ["Push", "False", "supported"],
    ["Pull", undefined, "unknown"],
    ["Pull", "True", "supported"],
    ["Pull", "False", "unsupported"],
    ["Pull", "Unknown", "unsupported"],
  ] as const)("%s with the condition %s: %s", (mode, status, expected) => {
    expect(agentSupport(cluster(mode, status))).toBe(expected);
  });
});

describe("the condition AgentSupported", () => {
  it.each([
    ["of a Push cluster is not written", cluster("Push"), lease(), undefined],
    ["waits for the first Lease", cluster("Pull"), undefined, undefined],
    ["is True for an agent that announces it", cluster("Pull"), lease(OURS), "True"],
    ["is False for an agent that announces nothing", cluster("Pull"), lease(), "False"],
    ["is False for another version", cluster("Pull"), lease(`v9 ${NOW}`), "False"],
    ["is written once", cluster("Pull", "True", "EndorsementKnown"), lease(OURS), undefined],
    ["is written once", cluster("Pull", "False", "EndorsementUnknown"), lease(), undefined],
    ["follows an agent that was replaced", cluster("Pull", "False", "x"), lease(OURS), "True"],
    ["does not last without a Lease to read", cluster("Pull", "False", "x"), undefined, undefined],
  ])("%s", (_name, of, given, expected) => {
    expect(decideAgentSupport(of, given)?.status).toBe(expected);
  });

  it("tells what to do", () => {
    const { message } = decideAgentSupport(cluster("Pull"), lease()) ?? {};
    expect(message).toContain("run `lifeboat agent`");
  });
});
