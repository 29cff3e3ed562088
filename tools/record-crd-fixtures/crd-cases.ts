/** CustomResourceDefinitions, good and bad. Each case is merged over a CRD that is good. */
import type { Json, JsonObject } from "../record-fixtures/case.ts";

const good: JsonObject = {
  group: "rec.example.com",
  scope: "Namespaced",
  names: { plural: "things", kind: "Thing" },
};

function version(more: JsonObject = {}): JsonObject {
  return {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: "object" } },
    ...more,
  };
}

/** A CRD with these fields of spec beside the good ones. */
function crd(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.rec.example.com", ...metadata },
    spec: { ...good, versions: [version()], ...spec },
  };
}

/** A CRD whose only version has this schema. */
function withSchema(openAPIV3Schema: Json, more: JsonObject = {}): JsonObject {
  return crd({ versions: [version({ schema: { openAPIV3Schema }, ...more })] });
}

/** … and whose schema has this one for spec. */
function withSpec(spec: JsonObject, more: JsonObject = {}): JsonObject {
  return withSchema({ type: "object", properties: { spec } }, more);
}

function withNames(names: JsonObject): JsonObject {
  return crd({ names: { plural: "things", kind: "Thing", ...names } });
}

const NINE_NAMES: readonly string[] = "abcdefghi".split("");
const string: JsonObject = { type: "string" };
const status = { subresources: { status: {} } };

export const crdCases: Readonly<Record<string, JsonObject>> = {
  minimal: crd({}),
  "everything given": crd({
    names: {
      plural: "things",
      singular: "one",
      kind: "Thing",
      listKind: "Things",
      shortNames: ["th"],
      categories: ["all"],
    },
    conversion: { strategy: "None" },
  }),
  "another name": crd({}, { name: "others.rec.example.com" }),
  "no group": crd({ group: "" }, { name: "things." }),
  "group without dot": crd({ group: "example" }, { name: "things.example" }),
  "group with capitals": crd({ group: "Rec.Example.com" }, { name: "things.Rec.Example.com" }),
  "no scope": crd({ scope: "" }),
  "unknown scope": crd({ scope: "Everywhere" }),
  "no plural": withNames({ plural: "" }),
  "no kind": withNames({ kind: "" }),
  "strange plural": withNames({ plural: "Things" }),
  "strange kind": withNames({ kind: "Thing!" }),
  "strange singular": withNames({ singular: "Thing" }),
  "strange list kind": withNames({ listKind: "Thing List" }),
  "list kind is kind": withNames({ listKind: "Thing" }),
  "strange short names": withNames({ shortNames: ["ok", "Not", "9x"] }),
  "strange categories": withNames({ categories: ["All"] }),
  "no versions": crd({ versions: [] }),
  "strange version": crd({ versions: [version({ name: "V1" })] }),
  "no schema": crd({ versions: [version({ schema: null })] }),
  "two versions": crd({
    versions: [version(), version({ name: "v2", storage: false })],
  }),
  "two different versions": crd({
    versions: [
      version(),
      version({
        name: "v2",
        storage: false,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "strange" } } } },
        additionalPrinterColumns: [{ name: "", type: "x", jsonPath: "a" }],
        subresources: { scale: { specReplicasPath: ".a", statusReplicasPath: "" } },
      }),
    ],
  }),
  "preserving everything": crd({ preserveUnknownFields: true }),
  deprecated: crd({ versions: [version({ deprecated: true, deprecationWarning: "use more" })] }),
  "warning without deprecation": crd({ versions: [version({ deprecationWarning: "use more" })] }),
  "empty warning": crd({ versions: [version({ deprecated: true, deprecationWarning: "" })] }),
  "unprintable warning": crd({
    versions: [version({ deprecated: true, deprecationWarning: "a\u0007b" })],
  }),
  "protected group": crd({ group: "x.k8s.io" }, { name: "things.x.k8s.io" }),
  "protected group, approved": crd(
    { group: "x.k8s.io" },
    {
      name: "things.x.k8s.io",
      annotations: { "api-approved.kubernetes.io": "https://example.com/a" },
    },
  ),
  "protected group, unclear": crd(
    { group: "x.k8s.io" },
    { name: "things.x.k8s.io", annotations: { "api-approved.kubernetes.io": "yes" } },
  ),
  "protected group, unapproved": crd(
    { group: "x.k8s.io" },
    { name: "things.x.k8s.io", annotations: { "api-approved.kubernetes.io": "unapproved, test" } },
  ),
  "webhook without configuration": crd({ conversion: { strategy: "Webhook" } }),
  "webhook with both": crd({
    conversion: {
      strategy: "Webhook",
      webhook: {
        clientConfig: { url: "https://a/b", service: { name: "a", namespace: "b" } },
        conversionReviewVersions: ["v1"],
      },
    },
  }),
  "webhook with strange reviews": crd({
    conversion: {
      strategy: "Webhook",
      webhook: {
        clientConfig: { url: "https://a/b" },
        conversionReviewVersions: ["x", "x", "Y"],
      },
    },
  }),
  webhook: crd({
    conversion: {
      strategy: "Webhook",
      webhook: {
        clientConfig: { service: { name: "a", namespace: "b" } },
        conversionReviewVersions: ["v1"],
      },
    },
  }),
  "webhook without strategy": crd({
    conversion: {
      strategy: "None",
      webhook: { clientConfig: { url: "https://a/b" }, conversionReviewVersions: ["v1"] },
    },
  }),
  "unknown conversion": crd({ conversion: { strategy: "Magic" } }),
  columns: crd({
    versions: [
      version({
        additionalPrinterColumns: [
          { name: "", type: "string", jsonPath: ".a" },
          { name: "b", type: "", jsonPath: ".a" },
          { name: "c", type: "object", jsonPath: ".a" },
          { name: "d", type: "string", format: "x", jsonPath: ".a" },
          { name: "e", type: "string", jsonPath: "" },
          { name: "f", type: "string", jsonPath: "spec.a" },
        ],
      }),
    ],
  }),
  "scale without paths": crd({
    versions: [
      version({ subresources: { scale: { specReplicasPath: "", statusReplicasPath: "" } } }),
    ],
  }),
  "scale with strange paths": crd({
    versions: [
      version({
        subresources: {
          scale: {
            specReplicasPath: ".status.a",
            statusReplicasPath: "status.a",
            labelSelectorPath: ".metadata.a",
          },
        },
      }),
    ],
  }),
  "selectable fields": withSchema(
    {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            a: string,
            o: { type: "object" },
            m: { type: "object", additionalProperties: string },
          },
        },
      },
    },
    {
      selectableFields: [
        { jsonPath: ".spec.a" },
        { jsonPath: ".spec.a" },
        { jsonPath: ".spec.o" },
        { jsonPath: ".spec.x" },
        { jsonPath: ".metadata.name" },
        { jsonPath: "spec.a" },
        { jsonPath: ".spec.m['a']" },
        { jsonPath: "" },
        { jsonPath: ".spec." },
      ],
    },
  ),
  "too many selectable fields": withSchema(
    {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: Object.fromEntries(NINE_NAMES.map((name) => [name, string])),
        },
      },
    },
    { selectableFields: NINE_NAMES.map((name) => ({ jsonPath: `.spec.${name}` })) },
  ),
  "root without type": withSchema({ properties: { spec: string } }),
  "root of another type": withSchema({ type: "string" }),
  "root of another type, with status": withSchema({ type: "string" }, status),
  "nullable root": withSchema({ type: "object", nullable: true }),
  "root with map values": withSchema({ type: "object", additionalProperties: string }),
  "more at the root than status allows": withSchema({ type: "object", minProperties: 1 }, status),
  "field without type": withSpec({}),
  "items without type": withSpec({ type: "array", items: {} }),
  "list without items": withSpec({ type: "array" }),
  "list of schemas": withSpec({ type: "array", items: [string, string] }),
  "unknown type": withSpec({ type: "text" }),
  "null type": withSpec({ type: "null" }),
  "unknown format": withSpec({ type: "string", format: "nonsense" }),
  "bad pattern": withSpec({ type: "string", pattern: "(" }),
  "pattern of another language": withSpec({ type: "string", pattern: "(?=a)" }),
  "unique items": withSpec({ type: "array", uniqueItems: true, items: string }),
  "properties and map values": withSpec({
    type: "object",
    properties: { a: string },
    additionalProperties: string,
  }),
  "properties and no more": withSpec({
    type: "object",
    properties: { a: string },
    additionalProperties: false,
  }),
  "properties and anything": withSpec({
    type: "object",
    properties: { a: string },
    additionalProperties: true,
  }),
  reference: withSpec({ $ref: "#/definitions/a" }),
  id: withSpec({ type: "string", id: "a" }),
  "schema keyword": withSpec({ type: "string", $schema: "a" }),
  definitions: withSpec({ type: "string", definitions: { a: string } }),
  dependencies: withSpec({ type: "object", dependencies: { a: ["b"] } }),
  "pattern properties": withSpec({ type: "object", patternProperties: { a: string } }),
  "additional items": withSpec({ type: "array", items: string, additionalItems: true }),
  "type in anyOf": withSpec({ type: "string", anyOf: [{ type: "string" }, string] }),
  "int or string": withSpec({
    "x-kubernetes-int-or-string": true,
    anyOf: [{ type: "integer" }, { type: "string" }],
  }),
  "int or string by allOf": withSpec({
    "x-kubernetes-int-or-string": true,
    allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "^a" }],
  }),
  "int or string the other way round": withSpec({
    "x-kubernetes-int-or-string": true,
    anyOf: [{ type: "string" }, { type: "integer" }],
  }),
  "int or string and more": withSpec({
    "x-kubernetes-int-or-string": true,
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-embedded-resource": true,
  }),
  "everything in a constraint": withSpec({
    type: "object",
    properties: { a: string },
    allOf: [
      {
        description: "d",
        title: "t",
        default: {},
        nullable: true,
        additionalProperties: string,
        "x-kubernetes-preserve-unknown-fields": true,
        "x-kubernetes-map-type": "atomic",
        properties: { a: { type: "string" }, metadata: { maxProperties: 1 } },
      },
    ],
  }),
  "undeclared in a constraint": withSpec({
    type: "object",
    properties: { l: { type: "array", items: string } },
    anyOf: [{ properties: { b: { minLength: 1 } } }],
    not: { properties: { l: { items: { properties: { c: { minLength: 1 } } } } } },
  }),
  metadata: withSchema({
    type: "object",
    properties: {
      metadata: { type: "object", properties: { name: { type: "string", maxLength: 3 } } },
    },
  }),
  "metadata with labels": withSchema({
    type: "object",
    properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
  }),
  "metadata as text": withSchema({ type: "object", properties: { metadata: string } }),
  "kind as number": withSchema({ type: "object", properties: { kind: { type: "integer" } } }),
  "default in metadata": withSchema({
    type: "object",
    properties: {
      metadata: { type: "object", properties: { name: { type: "string", default: "a" } } },
    },
  }),
  embedded: withSpec({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    properties: { spec: string },
  }),
  "embedded without type": withSpec({
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
  }),
  "embedded as text": withSpec({ type: "string", "x-kubernetes-embedded-resource": true }),
  "embedded without properties": withSpec({
    type: "object",
    "x-kubernetes-embedded-resource": true,
  }),
  "embedded with map values": withSpec({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    additionalProperties: string,
  }),
  "not preserving": withSpec({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
  "list type of a text": withSpec({ type: "string", "x-kubernetes-list-type": "set" }),
  "list type without type": withSpec({
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-list-type": "atomic",
  }),
  "unknown list type": withSpec({ type: "array", items: string, "x-kubernetes-list-type": "bag" }),
  "map type of a text": withSpec({ type: "string", "x-kubernetes-map-type": "atomic" }),
  "unknown map type": withSpec({ type: "object", "x-kubernetes-map-type": "tree" }),
  "set of objects": withSpec({
    type: "array",
    "x-kubernetes-list-type": "set",
    items: { type: "object", properties: { a: string } },
  }),
  "set of sets": withSpec({
    type: "array",
    "x-kubernetes-list-type": "set",
    items: { type: "array", items: string, "x-kubernetes-list-type": "set" },
  }),
  "set of nullables": withSpec({
    type: "array",
    "x-kubernetes-list-type": "set",
    items: { type: "string", nullable: true },
  }),
  "map without keys": withSpec({
    type: "array",
    "x-kubernetes-list-type": "map",
    items: { type: "object", properties: { a: string } },
  }),
  "keys without map": withSpec({
    type: "array",
    "x-kubernetes-list-map-keys": ["a"],
    items: { type: "object", properties: { a: string }, required: ["a"] },
  }),
  "keys of a set": withSpec({
    type: "array",
    "x-kubernetes-list-type": "set",
    "x-kubernetes-list-map-keys": ["a"],
    items: string,
  }),
  "map of texts": withSpec({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a"],
    items: string,
  }),
  "map with strange keys": withSpec({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a", "a", "b", "o"],
    items: {
      type: "object",
      nullable: true,
      properties: { a: { type: "string", nullable: true }, o: { type: "object" } },
    },
  }),
  "map with default key": withSpec({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a"],
    items: { type: "object", properties: { a: { type: "string", default: "x" } } },
  }),
  "good default": withSpec({ type: "object", properties: { a: string }, default: { a: "b" } }),
  "default of another type": withSpec({ type: "string", default: 1 }),
  "default with unknown fields": withSpec({
    type: "object",
    properties: { a: string },
    default: { a: "b", c: 1 },
  }),
  "default against the limits": withSpec({
    type: "object",
    properties: {
      a: { type: "string", maxLength: 1, default: "abc" },
      l: { type: "array", items: { type: "integer", minimum: 3, default: 1 } },
    },
  }),
  "default without a required field": withSpec({
    type: "object",
    properties: { a: string },
    required: ["a"],
    default: {},
  }),
  "default inside a map": withSpec({
    type: "object",
    additionalProperties: { type: "string", default: "a" },
  }),
  "null default": withSpec({ type: "string", nullable: true, default: null }),
  "rule without text": withSpec({ type: "string", "x-kubernetes-validations": [{ rule: "" }] }),
  "rule in a constraint": withSpec({
    type: "string",
    allOf: [{ "x-kubernetes-validations": [{ rule: "true" }] }],
  }),
  "rule with strange reason": withSpec({
    type: "string",
    "x-kubernetes-validations": [{ rule: "true", reason: "Because", message: " " }],
  }),
};

/** What may not change, and what may. */
export const crdUpdates: Readonly<Record<string, JsonObject>> = {
  nothing: crd({}),
  "another scope": crd({ scope: "Cluster" }),
  "another kind": withNames({ kind: "Other" }),
  "another singular": withNames({ singular: "other" }),
  "another group": crd({ group: "other.example.com" }),
  "another plural": withNames({ plural: "others" }),
  "a new storage version": crd({
    versions: [version({ storage: false }), version({ name: "v2" })],
  }),
  "the stored version goes": crd({ versions: [version({ name: "v2" })] }),
  "a field": withSpec(string),
};
