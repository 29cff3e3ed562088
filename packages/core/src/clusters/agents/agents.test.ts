import type { AnyObject, Cluster, Condition } from "@lifeboat/api";
import { describe, expect, it, test } from "vitest";
import { agentSupport, decideAgentSupport, knowsEndorsement } from "./agents.ts";

const lease = (value?: string): AnyObject =>
  ({
    metadata: value === undefined ? {} : { annotations: { "lifeboat.dev/endorsement": value } },
  }) as unknown as AnyObject;

function cluster(syncMode: "Push" | "Pull", status?: Condition["status"], reason = ""): Cluster {
  const conditions = status === undefined ? [] : [{ type: "AgentSupported", status, reason }];
  return { metadata: { name: "p1" }, spec: { syncMode }, status: { conditions } } as never;
}

test("an agent is known to know endorsement by the annotation of its Lease", () => {
  expect(knowsEndorsement(lease("v1"))).toBe(true);
  expect(knowsEndorsement(lease("v2"))).toBe(false);
  expect(knowsEndorsement(lease())).toBe(false);
  expect(knowsEndorsement(undefined)).toBe(false);
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
    ["is True for an agent that announces it", cluster("Pull"), lease("v1"), "True"],
    ["is False for an agent that announces nothing", cluster("Pull"), lease(), "False"],
    ["is False for another version", cluster("Pull"), lease("v9"), "False"],
    ["is written once", cluster("Pull", "True", "EndorsementKnown"), lease("v1"), undefined],
    ["is written once", cluster("Pull", "False", "EndorsementUnknown"), lease(), undefined],
    ["follows an agent that was replaced", cluster("Pull", "False", "x"), lease("v1"), "True"],
    ["does not last without a Lease to read", cluster("Pull", "False", "x"), undefined, undefined],
  ])("%s", (_name, of, given, expected) => {
    expect(decideAgentSupport(of, given)?.status).toBe(expected);
  });

  it("tells what to do", () => {
    const { message } = decideAgentSupport(cluster("Pull"), lease()) ?? {};
    expect(message).toContain("run `lifeboat agent`");
  });
});
