/**
 * Every manifest in examples/ and on the pages of the documentation is taken by the control plane, field by field; a part of one is put
 * where it belongs first. Files for members (examples/…/member/) are not for the control plane; tests/kube gives them to a kube-apiserver.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AnyObject, customResourceDefinitions, type New } from "@lifeboat/api";
import { discover } from "@lifeboat/controllers/context";
import { parseFailback } from "@lifeboat/core/operating";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

const root = fileURLToPath(new URL("../../../", import.meta.url));

function filesUnder(folder: string, ending: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

/** As a user writes it. */
type Manifest = New<AnyObject> & Pick<AnyObject, "apiVersion" | "kind">;

/** Whole manifests; what shows a part of one has no kind. */
function manifestsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as unknown)
    .filter(
      (one): one is Manifest =>
        typeof one === "object" && one !== null && "apiVersion" in one && "kind" in one,
    );
}

const SELECTORS = [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }];
const POLICY = "policy.karmada.io/v1alpha1";

/** Whole manifests around what pages show a part of, by its first field. */
const WHOLE: Readonly<Record<string, (part: object) => Manifest>> = {
  failover: policyWith,
  propagateDeps: policyWith,
  overriders: (part) => ({
    apiVersion: POLICY,
    kind: "OverridePolicy",
    metadata: { name: "part" },
    spec: { resourceSelectors: SELECTORS, overrideRules: [part] },
  }),
  env: (part) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "part" },
    spec: { containers: [{ name: "part", image: "part", ...part }] },
  }),
  metadata: (part) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "part" },
    ...part,
  }),
};

function policyWith(part: object): Manifest {
  const spec = { resourceSelectors: SELECTORS, ...part };
  return { apiVersion: POLICY, kind: "PropagationPolicy", metadata: { name: "part" }, spec };
}

/** The YAML of a page: blocks that are marked so, and those that look like it and are not. */
function blocksOf(page: string): readonly string[] {
  return [...page.matchAll(/^```([a-z]*)\n([\s\S]*?)^```$/gm)].flatMap(
    ([, language = "", block = ""]) =>
      language === "yaml" || (language === "" && /^[a-z]\w*:( |$)/im.test(block)) ? [block] : [],
  );
}

function shownIn(block: string): readonly Manifest[] {
  const whole = manifestsIn(block);
  if (whole.length > 0) return whole;
  const part = parseAllDocuments(block)[0]?.toJS() as object;
  const [field = ""] = Object.keys(part);
  const complete = WHOLE[field];
  if (complete === undefined) throw new Error(`no test knows what this is a part of:\n${block}`);
  return [complete(part)];
}

const examples = filesUnder("examples", ".yaml")
  .filter((file) => !file.includes("/member/"))
  .flatMap((file) =>
    manifestsIn(readFileSync(join(root, file), "utf8")).map((manifest) => ({ file, manifest })),
  );
const shown = [...filesUnder("docs", ".md"), "README.md"].flatMap((file) =>
  blocksOf(readFileSync(join(root, file), "utf8"))
    .flatMap(shownIn)
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

it("finds the examples, and what pages show", () => {
  expect(examples.length).toBeGreaterThan(8);
  expect(shown.length).toBeGreaterThan(4);
});

it("what pages and examples ask for about failback is understood", () => {
  const files = [...filesUnder("docs", ".md"), ...filesUnder("examples", ".yaml")];
  const rules = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), "utf8").matchAll(/lifeboat\.dev\/failback: "(\d[^"]*)"/g),
    ].map(([, rule = ""]) => rule),
  );
  expect(rules.length).toBeGreaterThan(2);
  expect(rules.filter((rule) => parseFailback(rule) === undefined)).toEqual([]);
});
