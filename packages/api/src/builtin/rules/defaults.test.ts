import { expect, it } from "vitest";
import { builtinSchema } from "../schema.ts";

it("fills in nothing twice, even where a default is made from an empty text", () => {
  // Found by fuzzing: the singular name of a CRD without kind was "filled" with an empty text again and again.
  const schema = builtinSchema("apiextensions.k8s.io/v1", "CustomResourceDefinition");
  const versions = [{ name: "v1", served: true, storage: true, schema: {} }];
  const body = {
    spec: { group: "g.io", scope: "Namespaced", names: { plural: "things", kind: "" }, versions },
  };
  const once = schema?.applyDefaults(body);
  expect(once).toBeDefined();
  expect(once === undefined ? undefined : schema?.applyDefaults(once)).toBe(once);
});
