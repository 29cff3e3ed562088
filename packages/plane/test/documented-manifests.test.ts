/** Every manifest in examples/ and on the pages of the documentation is taken by the control plane, field by field. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AnyObject, customResourceDefinitions } from "@lifeboat/api";
import { discover } from "@lifeboat/controllers/context";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

const root = fileURLToPath(new URL("../../../", import.meta.url));

function filesUnder(folder: string, ending: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

/** Whole manifests; what shows a part of one has no kind. */
function manifestsIn(text: string): readonly AnyObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as unknown)
    .filter(
      (one): one is AnyObject =>
        typeof one === "object" && one !== null && "apiVersion" in one && "kind" in one,
    );
}

function blocksOf(page: string): readonly string[] {
  return [...page.matchAll(/```(?:ya?ml)?\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
}

const examples = filesUnder("examples", ".yaml").flatMap((file) =>
  manifestsIn(readFileSync(join(root, file), "utf8")).map((manifest) => ({ file, manifest })),
);
const shown = filesUnder("docs", ".md").flatMap((file) =>
  blocksOf(readFileSync(join(root, file), "utf8"))
    .filter((block) => /^apiVersion: /m.test(block) && /^kind: /m.test(block))
    .flatMap(manifestsIn)
    .map((manifest) => ({ file, manifest })),
);

const all = [...examples, ...shown];
const isDefinition = ({ manifest }: (typeof all)[number]): boolean =>
  manifest.kind === "CustomResourceDefinition";

let fleet: Fleet;
beforeAll(async () => {
  fleet = await createFleet({ memberModel: false });
  // What they define is served before the other manifests are tried.
  for (const { manifest } of all.filter(isDefinition))
    await fleet.plane.create(customResourceDefinitions, manifest, { fieldValidation: "Strict" });
  await fleet.settle();
});
afterAll(() => fleet.close());

it.each(
  all.flatMap((one, i) => {
    const { file, manifest } = one;
    const title = `${manifest.kind} ${manifest.metadata.name} of ${file} (${i + 1})`;
    return isDefinition(one) ? [] : [[title, manifest] as const];
  }),
)("%s", async (_name, manifest) => {
  const { resources } = await discover(fleet.plane);
  const resource = resources.find(
    ({ group, version, kind }) =>
      kind === manifest.kind &&
      manifest.apiVersion === (group === "" ? version : `${group}/${version}`),
  );
  expect(resource, `${manifest.apiVersion} ${manifest.kind} is served`).toBeDefined();
  if (resource === undefined) return;
  const namespace = manifest.metadata.namespace ?? "default";
  const object = resource.namespaced
    ? { ...manifest, metadata: { ...manifest.metadata, namespace } }
    : manifest;
  const options = { dryRun: true, fieldValidation: "Strict" } as const;
  await expect(fleet.plane.create(resource, object, options)).resolves.toMatchObject({
    kind: manifest.kind,
  });
});

it("finds the examples", () => {
  expect(examples.length).toBeGreaterThan(8);
});
