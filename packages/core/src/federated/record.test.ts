import { describe, expect, it } from "vitest";
import { makeBinding } from "../placement/makers.suite.ts";
import { FEDERATED_RECORD, FEDERATED_SHARES } from "../well-known.ts";
import { federatedMarks, neverMoves } from "./marks.ts";
import { isFederated, NO_RECORD, readFederated, withFederated } from "./record.ts";

const bound = (annotations: Record<string, string>) => makeBinding({ annotations });
const set = (annotations: Record<string, string> = {}) => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "store", annotations },
});
const ASKS = { "federation.kubernetes.io/federated": "true" };

describe("what a binding remembers", () => {
  it("is read as it was written", () => {
    const record = {
      shares: new Map([
        ["c2", 1],
        ["c1", 2],
      ]),
      replicas: 3,
      clusters: ["c1", "c2", "c3"],
      numbers: new Map([
        ["c1", 1],
        ["c2", 2],
      ]),
      forgotten: new Set(["old"]),
    };
    const written = withFederated(bound({ [FEDERATED_SHARES]: "{}" }), record);
    expect(written.metadata.annotations?.[FEDERATED_SHARES]).toBe('{"c1":2,"c2":1}');
    expect(readFederated(written)).toEqual(record);
    expect(withFederated(written, record)).toBe(written);
  });

  it.each([
    ["no mark", {}, false, undefined],
    ["a new mark", { [FEDERATED_SHARES]: "{}" }, true, NO_RECORD],
    ["shares without the rest", { [FEDERATED_SHARES]: '{"c1":2}' }, true, undefined],
    ["no JSON", { [FEDERATED_SHARES]: "{", [FEDERATED_RECORD]: "{}" }, true, undefined],
    [
      "a negative share",
      { [FEDERATED_SHARES]: '{"c1":-1}', [FEDERATED_RECORD]: '{"replicas":1,"numbers":{}}' },
      true,
      undefined,
    ],
    [
      "the rest is no record",
      { [FEDERATED_SHARES]: "{}", [FEDERATED_RECORD]: "[]" },
      true,
      undefined,
    ],
  ] as const)("%s", (_what, annotations, federated, record) => {
    expect(isFederated(bound(annotations))).toBe(federated);
    expect(readFederated(bound(annotations))).toEqual(record);
  });
});

describe("the mark of a binding", () => {
  it("follows the opt-in until the first placement, and nothing after it", () => {
    expect(federatedMarks(set(ASKS), {})).toEqual({ [FEDERATED_SHARES]: "{}" });
    expect(federatedMarks(set(), { annotations: { [FEDERATED_SHARES]: "{}" } })).toEqual({
      [FEDERATED_SHARES]: undefined,
    });
    const placed = { annotations: { "policy.karmada.io/applied-placement": "{}" } };
    expect(federatedMarks(set(ASKS), placed)).toEqual({});
    expect(federatedMarks(set(), { annotations: { [FEDERATED_RECORD]: "{}" } })).toEqual({});
    expect(federatedMarks({ ...set(ASKS), kind: "Deployment" }, {})[FEDERATED_SHARES]).toBe(
      undefined,
    );
  });

  it("the Service of a pod stays with its pod", () => {
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "store-c1-0", labels: { "lifeboat.dev/federated-set": "store" } },
      spec: { selector: { "federated-statefulset": "store-c1-0" } },
    };
    const marks = federatedMarks(service, {});
    expect(neverMoves({ metadata: { annotations: marks as Record<string, string> } })).toBe(true);
    const forged = { ...service, spec: { selector: { app: "x" } } };
    expect(federatedMarks(forged, {})["lifeboat.dev/federated-set"]).toBeUndefined();
  });
});
