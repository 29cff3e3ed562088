import { Refused } from "@lifeboat/api";
import { describe, expect, test } from "vitest";
import { createNegotiator, type Endpoint, parseAccept } from "./media-type.ts";

const negotiator = createNegotiator();
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const GO_CLIENT = `${PROTOBUF},application/json`;

describe("what an Accept header gets", () => {
  test.each([
    { name: "nothing sent", accept: undefined, want: { media: "json", as: "object" } },
    { name: "anything", accept: "*/*", want: { media: "json" } },
    { name: "json", accept: "application/json", want: { media: "json" } },
    { name: "yaml", accept: "application/yaml", want: { media: "yaml", as: "object" } },
    { name: "case does not matter", accept: "Application/YAML", want: { media: "yaml" } },
    { name: "protobuf with fallback", accept: GO_CLIENT, want: { media: "json", as: "object" } },
    { name: "Table", accept: TABLE, want: { as: "table", metaVersion: "v1" } },
    {
      name: "Table v1beta1",
      accept: "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
      want: { as: "table", metaVersion: "v1beta1" },
    },
    {
      name: "kubectl get",
      accept: `${TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`,
      want: { as: "table", metaVersion: "v1" },
    },
    {
      name: "an unknown Table version falls to the next",
      accept: "application/json;as=Table;v=v9;g=meta.k8s.io,application/json",
      want: { as: "object" },
    },
    {
      name: "a metadata informer",
      accept: `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json`,
      want: { as: "metadata", metaVersion: "v1" },
    },
    {
      name: "the better q-value wins",
      accept: "application/yaml;q=0.1, application/json;q=0.5",
      want: { media: "json" },
    },
    {
      name: "the exact type goes before a wildcard",
      accept: "*/*, application/yaml",
      want: { media: "yaml" },
    },
    { name: "pretty", accept: "application/json;pretty=1", want: { pretty: true } },
    {
      name: "unknown parameters are ignored",
      accept: "application/json;foo=bar",
      want: { media: "json" },
    },
    {
      name: "a broken q-value counts as 1",
      accept: "application/json;q=abc",
      want: { media: "json" },
    },
  ])("$name", ({ accept, want }) => {
    expect(negotiator.negotiate(accept, "list")).toMatchObject(want);
  });
});

describe("what is not acceptable", () => {
  test.each<{
    name: string;
    accept: string;
    endpoint: Endpoint;
    message: string;
    details: boolean;
  }>([
    {
      name: "an unknown type",
      accept: "text/xml",
      endpoint: "list",
      message:
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch",
      details: true,
    },
    {
      name: "an unknown form",
      accept: "application/json;as=Table;v=v9;g=meta.k8s.io",
      endpoint: "list",
      message:
        "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
      details: false,
    },
    {
      name: "a quoted form, as the real server",
      accept: 'application/json;as="Table";v=v1;g=meta.k8s.io',
      endpoint: "object",
      message:
        "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
      details: false,
    },
    {
      name: "YAML on a watch",
      accept: "application/yaml",
      endpoint: "watch",
      message:
        "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch",
      details: false,
    },
  ])("$name", ({ accept, endpoint, message, details }) => {
    const asked = (): unknown => negotiator.negotiate(accept, endpoint);
    expect(asked).toThrow(Refused);
    // Twice: the second answer comes from memory.
    for (let i = 0; i < 2; i++) {
      try {
        asked();
      } catch (error) {
        const { status } = error as Refused;
        expect(status).toMatchObject({ code: 406, reason: "NotAcceptable", message });
        expect(status.details !== undefined).toBe(details);
      }
    }
  });
});

test("a Status is YAML only for those who ask for YAML first", () => {
  expect(negotiator.negotiateStatus("application/yaml").media).toBe("yaml");
  expect(negotiator.negotiateStatus("application/json, application/yaml").media).toBe("json");
  expect(negotiator.negotiateStatus("text/xml").media).toBe("json");
  expect(negotiator.negotiateStatus(undefined).media).toBe("json");
});

test("hostile headers are bounded", () => {
  expect(parseAccept(",".repeat(100_000))).toEqual([]);
  expect(parseAccept("a/b,".repeat(100_000)).length).toBeLessThanOrEqual(64);
  for (let i = 0; i < 2000; i++) negotiator.negotiate(`application/json;x=${i}`, "list");
});
