/** Bodies that cost more than they look like, each as large as is accepted. */
import { MAX_BODY_BYTES } from "../../packages/apiserver/src/http/body.ts";

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Attack extends Sent {
  readonly name: string;
  /** What an administrator sent before. */
  readonly before?: readonly Sent[];
}

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const THINGS = "/apis/example.com/v1/namespaces/default/things";
const DRY = "dryRun=All";
const VALUES = 50_000;
const HEAD = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

const bytes = (text: string): Uint8Array => Buffer.from(text);
const json = (value: unknown): Uint8Array => bytes(JSON.stringify(value));
const fill = (text: string, size: number): string => text.repeat(Math.floor(size / text.length));
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const record = <T>(count: number, make: (i: number) => [string, T]): Record<string, T> =>
  Object.fromEntries(times(count, make));
const typed = (type: string): Record<string, string> => ({ "content-type": type });

function create(name: string, body: Uint8Array, type = "application/json"): Attack {
  return { name, method: "POST", url: `${CONFIG_MAPS}?${DRY}`, headers: typed(type), body };
}

function read(name: string, url: string, accept: string): Attack {
  const headers = { accept };
  return { name, method: "GET", url, headers, body: new Uint8Array(0), before: [LARGE] };
}

function createThing(name: string, object: unknown): Attack {
  const body = json({ apiVersion: "example.com/v1", kind: "Thing", ...(object as object) });
  return { name, method: "POST", url: `${THINGS}?${DRY}`, headers: JSON_TYPE, body, before: [CRD] };
}

const SIZE = MAX_BODY_BYTES - 200;
const JSON_TYPE = typed("application/json");
const YAML = "application/yaml";
const YAML_SIZE = 256 * 1024 - 200;
const PROTOBUF = "application/vnd.kubernetes.protobuf";

const CRD: Sent = {
  method: "POST",
  url: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  headers: JSON_TYPE,
  body: json({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                backtracking: { type: "string", pattern: "^(a+)+$" },
                large: { type: "string", pattern: "^((a{0,30}){0,30}b?)*$" },
                patterns: {
                  type: "array",
                  items: { type: "string", pattern: "^([a-z]+[0-9]*)+$" },
                },
                choices: {
                  type: "array",
                  items: { type: "string", enum: times(5000, (i) => `choice-${i}`) },
                },
                set: {
                  type: "array",
                  "x-kubernetes-list-type": "set",
                  items: { type: "string" },
                },
                known: {
                  type: "object",
                  additionalProperties: { type: "object", properties: { a: { type: "string" } } },
                },
                alternatives: {
                  type: "array",
                  items: {
                    type: "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                    anyOf: times(50, (i) => ({ required: [`a${i}`] })),
                  },
                },
                any: { "x-kubernetes-preserve-unknown-fields": true },
              },
            },
          },
        },
      ],
    },
  }),
};

/** A stored object that patches work on. */
const LARGE: Sent = {
  method: "POST",
  url: CONFIG_MAPS,
  headers: JSON_TYPE,
  body: json({
    ...HEAD,
    metadata: { name: "large", annotations: record(4000, (i) => [`a.b/k${i}`, "v"]) },
    data: record(40_000, (i) => [`k${i}`, "v"]),
  }),
};
const LONG: Sent = {
  method: "POST",
  url: THINGS,
  headers: JSON_TYPE,
  body: json({
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name: "long" },
    any: times(45_000, () => 1),
  }),
};
const DEPLOYMENT: Sent = {
  method: "POST",
  url: "/apis/apps/v1/namespaces/default/deployments",
  headers: JSON_TYPE,
  body: json({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { labels: { a: "b" } },
        spec: {
          containers: [
            {
              name: "c",
              image: "i",
              env: times(10_000, (i) => ({ name: `E${i}`, value: "v" })),
            },
          ],
        },
      },
    },
  }),
};

function patch(name: string, type: string, on: Sent, path: string, body: Uint8Array): Attack {
  const url = `${path}?${DRY}`;
  return { name, method: "PATCH", url, headers: typed(type), body, before: [CRD, on] };
}

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const OPERATIONS = 10_000;

/** A length-delimited protobuf field. */
function field(tag: number, content: Uint8Array): Uint8Array {
  const length: number[] = [];
  for (let rest = content.length; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      length.push(rest);
      break;
    }
    length.push((rest % 128) + 128);
  }
  return Buffer.concat([Buffer.from([tag * 8 + 2, ...length]), content]);
}

function protobuf(name: string, content: Uint8Array): Attack {
  const type = Buffer.concat([field(1, bytes("v1")), field(2, bytes("ConfigMap"))]);
  const body = Buffer.concat([bytes("k8s\0"), field(1, type), field(2, content)]);
  return create(name, body, PROTOBUF);
}

function nestedProtobuf(levels: number): Uint8Array {
  let content: Uint8Array = new Uint8Array(0);
  for (let i = 0; i < levels; i++) content = field(1, content);
  return content;
}

const repeated = (piece: Uint8Array, size: number): Uint8Array =>
  Buffer.concat(times(Math.floor(size / piece.length), () => piece));

const flat = (item: string): Uint8Array => bytes(`{"a":[${fill(`${item},`, SIZE)}1]}`);
const few = (item: string): Uint8Array => bytes(`{"a":[${`${item},`.repeat(VALUES - 10)}1]}`);
const yaml = (text: string): Uint8Array => bytes(`apiVersion: v1\nkind: ConfigMap\n${text}`);

export const attacks: readonly Attack[] = [
  create("json: a list of numbers", flat("1")),
  create("json: a list of objects", flat("{}")),
  create("json: nested lists", bytes(fill("[", SIZE))),
  create("json: nested lists, many times", flat(`${"[".repeat(200)}${"]".repeat(200)}`)),
  create("json: different keys", json(record(250_000, (i) => [`k${i}`, 1]))),
  create("json: as many values as are read", few("1")),
  create("json: as many keys as are read", json(record(VALUES - 10, (i) => [`k${i}`, 1]))),
  create(
    "json: as many long keys as are read",
    json(record(VALUES - 10, (i) => [`${i}-${"k".repeat(50)}`, 1])),
  ),
  create(
    "json: as many objects as are read",
    bytes(`{"a":[${'{"k":{}},'.repeat(VALUES / 3 - 10)}1]}`),
  ),
  create("json: the same key again and again", bytes(`{${`"a":1,`.repeat(VALUES - 10)}"a":1}`)),
  create(
    "json: long keys above wrong numbers",
    bytes(
      `${`{"${"x".repeat(10_000)}":`.repeat(100)}[${"1,".repeat(VALUES - 200)}9007199254740993]${"}".repeat(100)}`,
    ),
  ),
  create(
    "json: long keys above duplicate keys",
    bytes(`{"${"x".repeat(2_000_000)}":{${times(1000, (i) => `"k${i}":1,"k${i}":1`).join(",")}}}`),
  ),
  create("json: one long text", json({ ...HEAD, data: { a: "x".repeat(SIZE - 100) } })),
  create("json: one long text of escapes", bytes(`{"data":{"a":"${fill('\\"', SIZE)}"}}`)),
  create("json: a wrong end", bytes(`{"data":{"a":"${fill("xx", SIZE - 100)}"}}x`)),
  create("json: spaces", bytes(`{"a":${fill(" ", SIZE)}x}`)),
  create("json: a long number", bytes(`{"a":${fill("1", SIZE)}}`)),
  create("json: a gzip bomb", Buffer.from("1f8b0800000000000003", "hex")),
  create("json: a ConfigMap of many keys", LARGE.body),
  create(
    "json: a ConfigMap of many wrong keys",
    json({ ...HEAD, data: record(VALUES - 10, (i) => [`k ${i}`, "v"]) }),
  ),
  create(
    "json: many wrong labels",
    json({ ...HEAD, metadata: { name: "a", labels: record(40_000, (i) => [`k ${i}`, "v "]) } }),
  ),
  create(
    "json: many unknown fields",
    json({ ...HEAD, ...record(VALUES - 10, (i) => [`unknown-${i}`, 1]) }),
  ),
  { ...create("json: many containers", DEPLOYMENT.body), url: `${DEPLOYMENT.url}?${DRY}` },
  create("yaml: a list, far too long", yaml(`a:\n${fill("- a\n", 2_900_000)}`), YAML),
  create("yaml: a list", yaml(`a:\n${"- a\n".repeat(3100)}`), YAML),
  create("yaml: keys", yaml(times(2200, (i) => `k${i}: v\n`).join("")), YAML),
  create("yaml: lists in a line", yaml(`a: [${"[],".repeat(3900)}]`), YAML),
  create("yaml: nested lists", yaml(`a: ${"[".repeat(15_900)}`), YAML),
  create("yaml: anchors", yaml(`a: [${"&a b,".repeat(3100)}]`), YAML),
  create("yaml: aliases", yaml(`a: &a [${"b,".repeat(2000)}]\nc: [${"*a,".repeat(24)}]`), YAML),
  create("yaml: one problem after another", bytes(fill("]", YAML_SIZE)), YAML),
  create("yaml: commas", bytes(`[${fill(",", YAML_SIZE)}]`), YAML),
  create("yaml: quotes", bytes(fill('"', YAML_SIZE)), YAML),
  create("yaml: a text of many lines", yaml(`a:\n${fill("  b\n", YAML_SIZE)}`), YAML),
  create("yaml: a quoted text of many lines", yaml(`a: '${fill("b\n ", YAML_SIZE)}'`), YAML),
  create("yaml: comments", yaml("#\n".repeat(7900)), YAML),
  create("yaml: directives", bytes(`${"%a\n".repeat(4000)}---\na: b`), YAML),
  protobuf("protobuf: unknown fields", repeated(Buffer.from([0x78, 1]), SIZE)),
  protobuf("protobuf: empty metadata", repeated(field(1, new Uint8Array(0)), SIZE)),
  protobuf("protobuf: empty entries of a map", repeated(field(2, new Uint8Array(0)), SIZE)),
  protobuf(
    "protobuf: as many entries as are read",
    Buffer.concat(
      times(33_000, (i) =>
        field(2, Buffer.concat([field(1, bytes(`k${i}`)), field(2, bytes("v"))])),
      ),
    ),
  ),
  protobuf("protobuf: nested", repeated(nestedProtobuf(250), SIZE)),
  protobuf(
    "protobuf: nested metadata",
    repeated(field(1, repeated(field(11, new Uint8Array(0)), 200)), 150_000),
  ),
  patch(
    "json patch: too many operations",
    JSON_PATCH,
    LARGE,
    `${CONFIG_MAPS}/large`,
    json(times(12_000, (i) => ({ op: "add", path: `/data/n${i}`, value: "v" }))),
  ),
  patch(
    "json patch: as many operations as are read",
    JSON_PATCH,
    LARGE,
    `${CONFIG_MAPS}/large`,
    json(times(OPERATIONS, (i) => ({ op: "replace", path: `/data/k${i}`, value: "w" }))),
  ),
  patch(
    "json patch: tests of the whole",
    JSON_PATCH,
    LARGE,
    `${CONFIG_MAPS}/large`,
    json(times(OPERATIONS, () => ({ op: "test", path: "/data/k1", value: "v" }))),
  ),
  patch(
    "json patch: inserting at the front of a list",
    JSON_PATCH,
    LONG,
    `${THINGS}/long`,
    json(times(OPERATIONS, () => ({ op: "add", path: "/any/0", value: 1 }))),
  ),
  patch(
    "json patch: moving within a list",
    JSON_PATCH,
    LONG,
    `${THINGS}/long`,
    json(times(OPERATIONS, () => ({ op: "move", from: "/any/44999", path: "/any/0" }))),
  ),
  patch(
    "json patch: removing from an object",
    JSON_PATCH,
    LARGE,
    `${CONFIG_MAPS}/large`,
    json(times(OPERATIONS, (i) => ({ op: "remove", path: `/data/k${i}` }))),
  ),
  patch(
    "json patch: copies",
    JSON_PATCH,
    LONG,
    `${THINGS}/long`,
    json(times(OPERATIONS, (i) => ({ op: "copy", from: "/any", path: `/any${i}` }))),
  ),
  patch(
    "json patch: copies of copies",
    JSON_PATCH,
    LONG,
    `${THINGS}/long`,
    json([
      { op: "add", path: "/any", value: [1] },
      ...times(40, () => ({ op: "copy", from: "/any", path: "/any/-" })),
    ]),
  ),
  patch(
    "json patch: long paths",
    JSON_PATCH,
    LARGE,
    `${CONFIG_MAPS}/large`,
    json(times(3, () => ({ op: "add", path: fill("/a", SIZE / 3 - 100), value: 1 }))),
  ),
  patch(
    "merge patch: many keys",
    MERGE_PATCH,
    LARGE,
    `${CONFIG_MAPS}/large`,
    json({ data: record(VALUES - 10, (i) => [`k${i}`, null]) }),
  ),
  patch(
    "merge patch: doubling the object",
    MERGE_PATCH,
    LARGE,
    `${CONFIG_MAPS}/large`,
    json({ data: record(VALUES - 10, (i) => [`n${i}`, "v"]) }),
  ),
  patch(
    "strategic merge: a list by its key",
    STRATEGIC,
    DEPLOYMENT,
    `${DEPLOYMENT.url}/d`,
    json({
      spec: {
        template: {
          spec: {
            containers: [
              { name: "c", env: times(12_000, (i) => ({ name: `E${12_000 - i}`, value: "w" })) },
            ],
          },
        },
      },
    }),
  ),
  patch(
    "strategic merge: orders of lists",
    STRATEGIC,
    DEPLOYMENT,
    `${DEPLOYMENT.url}/d`,
    json({
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: "c",
                "$setElementOrder/env": times(10_000, (i) => ({ name: `E${10_000 - i}` })),
                env: times(6000, (i) => ({ name: `E${10_000 - i}`, value: "w" })),
              },
            ],
          },
        },
      },
    }),
  ),
  patch(
    "strategic merge: wrong orders",
    STRATEGIC,
    DEPLOYMENT,
    `${DEPLOYMENT.url}/d`,
    json({ spec: 1, ...record(24_000, (i) => [`$setElementOrder/k${i}`, []]) }),
  ),
  patch(
    "apply patch: a list",
    "application/apply-patch+yaml",
    LARGE,
    `${CONFIG_MAPS}/large`,
    yaml(`a:\n${"- a\n".repeat(3100)}`),
  ),
  createThing("crd: a pattern that could backtrack", {
    metadata: { name: "a" },
    backtracking: `${"a".repeat(1_000_000)}!`,
  }),
  createThing("crd: a pattern that is large", {
    metadata: { name: "a" },
    large: `${"a".repeat(1_000_000)}!`,
  }),
  createThing("crd: a pattern for many texts", {
    metadata: { name: "a" },
    patterns: times(VALUES - 10, () => "abc123abc123"),
  }),
  createThing("crd: a choice of many", {
    metadata: { name: "a" },
    choices: times(VALUES - 10, (i) => `choice-${i}`),
  }),
  createThing("crd: a set", {
    metadata: { name: "a" },
    set: times(VALUES - 10, (i) => `x${i}`),
  }),
  createThing("crd: unknown fields", {
    metadata: { name: "a" },
    known: { ["x".repeat(2_000_000)]: record(20_000, (i) => [`k${i}`, 1]) },
  }),
  createThing("crd: alternatives", {
    metadata: { name: "a" },
    alternatives: times(VALUES / 2 - 10, () => ({})),
  }),
  createThing("crd: anything", {
    metadata: { name: "a" },
    any: times(VALUES - 10, () => 1),
  }),
  read("answer: a large object as YAML", `${CONFIG_MAPS}/large`, YAML),
  read("answer: a large object, indented", `${CONFIG_MAPS}/large?pretty=true`, "application/json"),
  read(
    "answer: a large object as a table",
    `${CONFIG_MAPS}/large`,
    "application/json;as=Table;v=v1;g=meta.k8s.io",
  ),
  read(
    "selector: many labels",
    `${CONFIG_MAPS}?labelSelector=${times(3000, (i) => `k${i}!=v`).join(",")}`,
    "application/json",
  ),
  read(
    "selector: many values",
    `${CONFIG_MAPS}?labelSelector=k%20notin%20(${times(6000, (i) => `v${i}`).join(",")})`,
    "application/json",
  ),
];
