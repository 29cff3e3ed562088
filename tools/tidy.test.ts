/**
 * The repository's own rules, checked by reading it: what a linter cannot see because it lies between files.
 */
import { describe, expect, it } from "vitest";
import { citedIds, definedIds, PROMISES, RULES } from "./ids.ts";
import { foldersOf, PACKAGES_WITH_FOLDERS } from "./lint/folders.js";
import { listFiles, readText } from "./repository.ts";
import { type Unclear, unclearMessages, unclearWords } from "./words.ts";

/** This file names what it forbids. */
const self = "tools/tidy.test.ts";
/** So does the test of the ids. */
const ownTest = "tools/ids.test.ts";
const files = listFiles();
const isGenerated = (file: string): boolean => /\/(generated|fixtures[^/]*)\//.test(file);
const code = files.filter((file) => /\.(ts|js|mjs|sh|go)$/.test(file) && !isGenerated(file));
const sources = code.filter((file) => /^packages\/[^/]+\/(src|test)\/.*\.ts$/.test(file));
const production = sources.filter((file) => !/\.(test|suite|bench)\.ts$/.test(file));
const packages = [...new Set(sources.map((file) => file.split("/").slice(0, 2).join("/")))];

describe("packages", () => {
  it.each([...packages, "testkit"])("%s has a README of about one page", (directory) => {
    expect(files).toContain(`${directory}/README.md`);
    const lines = readText(`${directory}/README.md`).split("\n").length;
    expect(lines).toBeGreaterThan(10);
    expect(lines).toBeLessThan(90);
  });

  it.each(packages)("%s has every dependency explained", (directory) => {
    const manifest = JSON.parse(readText(`${directory}/package.json`));
    const reasons = readText("docs/decisions/0002-dependencies.md");
    const foreign = Object.keys(manifest.dependencies ?? {}).filter(
      (name) => !name.startsWith("@lifeboat/"),
    );
    for (const name of foreign) expect(reasons, name).toMatch(new RegExp(`\\| ${name} +\\|`));
  });

  it("are not outgrown by their simulation", () => {
    const linesOf = (some: readonly string[]): number =>
      some.reduce((sum, file) => sum + readText(file).split("\n").length, 0);
    const isProof = (file: string): boolean =>
      /^(packages\/sim|tools\/sim-mutants)\/.*\.ts$/.test(file);
    const product = production.filter((file) => !isProof(file) && !isGenerated(file));
    // A tenth above 0.195, for an oracle that comes before the part of the product that it judges.
    expect(linesOf(files.filter(isProof)) / linesOf(product)).toBeLessThan(0.215);
  });

  it("are pinned to exact versions", () => {
    const manifests = ["package.json", ...packages.map((directory) => `${directory}/package.json`)];
    for (const file of manifests) {
      const { dependencies = {}, devDependencies = {} } = JSON.parse(readText(file));
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
        expect(version, `${name} in ${file}`).toMatch(/^\d/);
      }
    }
  });
});

describe("folders", () => {
  const pathsIn = (name: string): readonly string[] =>
    production
      .map((file) => file.split(`packages/${name}/src/`)[1] ?? "")
      .filter((path) => path !== "" && !path.endsWith("index.ts"));
  const listed = (name: string): readonly string[] =>
    Object.values(foldersOf(name, readText(`packages/${name}/README.md`))).flat();

  it.each(PACKAGES_WITH_FOLDERS)("of %s are in the tables of its README", (name) => {
    const entries = new Set(listed(name));
    expect(entries.size).toBeGreaterThan(10);
    const missing = outermost(pathsIn(name)).filter((entry) => !entries.has(entry));
    expect(missing).toEqual([]);
  });

  it.each(PACKAGES_WITH_FOLDERS)("in the README of %s exist, and stand there once", (name) => {
    const entries = listed(name);
    const paths = pathsIn(name);
    // A folder inside an entry may be an entry of its own.
    const nested = paths.map((path) => path.slice(0, path.lastIndexOf("/") + 1));
    const known = new Set([...outermost(paths), ...nested]);
    expect(entries.filter((entry) => !known.has(entry))).toEqual([]);
    expect(new Set(entries).size).toBe(entries.length);
  });

  it.each(packages)("of %s are named in its README", (directory) => {
    const name = directory.split("/")[1] ?? "";
    const readme = readText(`${directory}/README.md`);
    const folders = outermost(pathsIn(name)).filter((entry) => entry.endsWith("/"));
    const missing = folders.filter((folder) => !new RegExp(`\`(src/)?${folder}`).test(readme));
    expect(missing).toEqual([]);
  });

  it("count where their files are: a folder of folders is a family, not an entry", () => {
    const paths = ["plan.ts", "a/x.ts", "a/deep/y.ts", "family/b/z.ts", "family/c/deep/w.ts"];
    expect(outermost(paths)).toEqual(["plan.ts", "a/", "family/b/", "family/c/deep/"]);
  });
});

it("docs/architecture.md names files that exist; it may leave out packages/ and src/", () => {
  const named = readText("docs/architecture.md").match(/`[\w./-]+\.(ts|js)`/g) ?? [];
  expect(named.length).toBeGreaterThan(30);
  const paths = [...files, ...files.map((file) => file.replace("/src/", "/"))];
  const missing = named
    .map((name) => name.slice(1, -1))
    .filter((name) => !paths.some((path) => `/${path}`.endsWith(`/${name}`)));
  expect(missing).toEqual([]);
});

/** Files beside the folders, and the outermost folders that hold files themselves. */
function outermost(paths: readonly string[]): readonly string[] {
  const holding = new Set(paths.map((path) => path.slice(0, path.lastIndexOf("/") + 1)));
  const entries = paths.map((path) => {
    const parts = path.split("/").slice(0, -1);
    const folders = parts.map((_part, depth) => `${parts.slice(0, depth + 1).join("/")}/`);
    return folders.find((folder) => holding.has(folder)) ?? path;
  });
  return [...new Set(entries)];
}

describe("17.17: package-lock.json", () => {
  type Locked = {
    readonly version?: string;
    readonly resolved?: string;
    readonly libc?: unknown;
    readonly hasInstallScript?: boolean;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  };
  const packagesOf = (): Readonly<Record<string, Locked>> =>
    JSON.parse(readText("package-lock.json")).packages;

  it("holds every optional package of every platform, or `npm ci` refuses it and `npm install` changes it", () => {
    const locked = packagesOf();
    const find = (from: string, name: string): Locked | undefined => {
      for (
        let directory = from;
        ;
        directory = directory.replace(/(^|\/)node_modules\/[^/]+(\/[^/]+)?$/, "")
      ) {
        const found = locked[`${directory === "" ? "" : `${directory}/`}node_modules/${name}`];
        if (found !== undefined || directory === "") return found;
      }
    };
    const missing: string[] = [];
    for (const [path, { optionalDependencies = {} }] of Object.entries(locked)) {
      for (const name of Object.keys(optionalDependencies)) {
        if (find(path, name)?.version === undefined) missing.push(`${name}, wanted by ${path}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it("names no registry, and no libc, which npm 10 takes out again", () => {
    const told = Object.entries(packagesOf()).filter(
      ([, { resolved = "", libc }]) => resolved.includes("://") || libc !== undefined,
    );
    expect(told.map(([path]) => path)).toEqual([]);
  });

  it("has no install script that package.json does not answer for", () => {
    const { allowScripts } = JSON.parse(readText("package.json"));
    const scripted = Object.entries(packagesOf()).filter(
      ([, { hasInstallScript }]) => hasInstallScript,
    );
    const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, "")).sort();
    expect(Object.keys(allowScripts).sort()).toEqual(names);
  });
});

describe("sources", () => {
  it("hold no leftover marks", () => {
    const mark = /\b(FIXME|XXX|HACK)\b|TODO(?!\(#)/;
    expect(code.filter((file) => file !== self && mark.test(readText(file)))).toEqual([]);
  });

  const text = files.filter((file) => !/package-lock\.json|\.pb$|go\.sum$/.test(file));

  it("hold no marks of a merge", () => {
    // The formatter turns the last one into quotes of quotes where it stands in Markdown.
    const mark = /^(<{7}|>{7}|(> ){6}>) /m;
    expect(text.filter((file) => file !== self && mark.test(readText(file)))).toEqual([]);
  });

  it("name no path of somebody's machine", () => {
    const machine = /\/(root|work)\/|\/home\/[a-z]/;
    expect(text.filter((file) => file !== self && machine.test(readText(file)))).toEqual([]);
  });

  it("open with their purpose when they are not trivial", () => {
    const bare = production.filter((file) => {
      const text = readText(file);
      const opens = /^(#!.*\n)?(\/\*\*|\/\/)/.test(text);
      return text.split("\n").length > 60 && !opens && !file.endsWith("/index.ts");
    });
    expect(bare).toEqual([]);
  });

  it("use no words for objects and controllers that take two readings", () => {
    const judged = sources.filter((file) =>
      /^packages\/(base|core|controllers|kit|plane|apiserver|dns|proxy|traffic)\/src\//.test(file),
    );
    expect(judged.length).toBeGreaterThan(300);
    expect(linesOfUnclear(judged, unclearWords)).toEqual([]);
  });

  it("use no such words in messages", () => {
    const judged = production.filter((file) => !file.startsWith("packages/sim/"));
    expect(linesOfUnclear(judged, unclearMessages)).toEqual([]);
  });

  it("read bindings in one place", () => {
    // Oracles read by themselves: what they share with the product they cannot judge.
    const elsewhere = production.filter(
      (file) =>
        /^packages\/(core|controllers|plane|cli|sim\/src\/what-if)\//.test(file) &&
        !file.startsWith("packages/core/src/binding/") &&
        readsBinding(readText(file)),
    );
    expect(elsewhere).toEqual([]);
  });

  it.each([
    ["binding.spec.clusters ?? []", true],
    ["binding?.spec.clusters?.length", true],
    ["(found.spec?.gracefulEvictionTasks ?? [])", true],
    ["const { placement, clusters = [] } = binding.spec;", true],
    ["const {\n  replicas,\n  clusters: result = [],\n} = binding?.spec ?? {};", true],
    ["({ spec: { gracefulEvictionTasks = [] } }: ResourceBinding) => 1", true],
    ['({ clusters = [] }: ResourceBinding["spec"]) => 1', true],
    ["binding.spec.suspension?.dispatching === true", true],
    ["suspension?.dispatchingOnClusters?.clusterNames", true],
    ["binding.spec.suspension?.scheduling === true", false],
    ["const { clusters: _former, ...spec } = binding.spec;", false],
    ["requiredBy.some(({ clusters = [] }) => clusters.length > 0)", false],
    ["const { clusters = [] } = parsed; const { placement } = binding.spec;", false],
  ])("of which %j reads one by itself: %s", (text, expected) => {
    expect(readsBinding(text)).toBe(expected);
  });

  it("of core and controllers call nothing by a type that it may not have", () => {
    const casting = production.filter(
      (file) => /^packages\/(core|controllers)\//.test(file) && castsBlindly(readText(file)),
    );
    expect(casting).toEqual([]);
  });

  it.each([
    ["const body = found as unknown as Json;", true],
    ["const body = (found as\n  unknown) as Json;", true],
    ["const text = error as unknown;", false],
  ])("of which %j does: %s", (text, expected) => {
    expect(castsBlindly(text)).toBe(expected);
  });

  it("are all reached from an entry file or a test", () => {
    const imported = new Set<string>();
    for (const file of files.filter((name) => /\.(ts|js)$/.test(name))) {
      for (const match of readText(file).matchAll(/(?:from|import\(|new URL\()\s*"(\.[^"]+)"/g)) {
        imported.add(new URL(match[1] ?? "", `file:///${file}`).pathname.slice(1));
      }
    }
    // What a package exports by a path of its own is imported by that path.
    for (const file of files.filter((name) => /^packages\/[^/]+\/package\.json$/.test(name)))
      for (const match of readText(file).matchAll(/"@lifeboat\/source": "\.([^"*]+)"/g))
        imported.add(`${file.replace(/\/package\.json$/, "")}${match[1] ?? ""}`);
    const entry = /\/src\/(.*\/)?(index|main)\.ts$/;
    expect(production.filter((file) => !imported.has(file) && !entry.test(file))).toEqual([]);
  });

  it("skip no test and leave none alone", () => {
    const alone = /\b(it|test|describe)\.(skip|only|todo)\(/;
    expect(code.filter((file) => file !== self && alone.test(readText(file)))).toEqual([]);
  });
});

function linesOfUnclear(
  judged: readonly string[],
  find: (file: string, text: string) => readonly Unclear[],
): readonly string[] {
  return judged
    .filter((file) => !isGenerated(file))
    .flatMap((file) =>
      find(file, readText(file)).map(
        ({ line, word, instead, sentence }) =>
          `${file}:${line}: "${word}" (${instead}) in: ${sentence}`,
      ),
    );
}

/**
 * Whether a source reads the result or the tasks of a binding by itself, with a default or only if they are there; or where its
 * dispatching is suspended.
 */
function readsBinding(text: string): boolean {
  const list = String.raw`\b(?:clusters|gracefulEvictionTasks)`;
  return [
    String.raw`\bspec\??\.${list.slice(2)} ?(?:\?\?|\?\.)`,
    String.raw`\bsuspension\??\.dispatching`,
    String.raw`${list}(?:: \w+)? = \[\][^{}=]*\} = [\w.?]*\bspec\b`,
    String.raw`\bspec: \{[^{}]*${list}(?:: \w+)? = \[\]`,
    String.raw`${list}(?:: \w+)? = \[\][^{}]*\}: ResourceBinding\["spec"\]`,
  ].some((pattern) => new RegExp(pattern).test(text));
}

/** Whether a source gives a value a type by way of `unknown`, so that no compiler compares the two. */
function castsBlindly(text: string): boolean {
  return /\bas\s+unknown\s*\)?\s*as\b/.test(text);
}

describe("ids of rules, promises, faults and threats", () => {
  const defined = [RULES, PROMISES].map((file) => definedIds(file, readText(file)));

  it("are defined in one document each", () => {
    const all = defined.flat();
    for (const ids of defined) expect(ids.length).toBeGreaterThan(30);
    expect(all.filter((id, index) => all.indexOf(id) !== index)).toEqual([]);
  });

  it("are defined where they are cited", () => {
    const known = new Set(defined.flat());
    const text = files.filter(
      (file) => /\.(md|ts|js|mjs|sh|go)$/.test(file) && !isGenerated(file) && file !== ownTest,
    );
    const unknown: string[] = [];
    for (const file of text)
      for (const { id, line } of citedIds(file, readText(file)))
        if (!known.has(id)) unknown.push(`${id} in ${file}:${line}`);
    expect(unknown).toEqual([]);
  });
});

describe("documentation", () => {
  it("lists every metric", () => {
    // Generated from calls that make metrics: one whose definition was not found there would be missing.
    const documented = readText("docs/reference/metrics.md");
    const undocumented: string[] = [];
    for (const file of production.filter((name) => !name.startsWith("packages/sim/"))) {
      for (const [, name] of readText(file).matchAll(/name: "([a-z_:]+)",\s+help:\s+"[A-Z\d]/g)) {
        if (!documented.includes(`\`${name}\``)) undocumented.push(`${name} in ${file}`);
      }
    }
    expect(undocumented).toEqual([]);
  });

  it("gives every reason a sentence", () => {
    for (const file of production.filter((name) => name.endsWith("/reasons.ts"))) {
      for (const [, reason, sentence] of readText(file).matchAll(/^ {2}(\w+): "([^"]*)"/gm)) {
        expect(sentence, `${reason} in ${file}`).toMatch(/^[A-Z].*\.$/);
      }
    }
  });

  it("names only files that exist", () => {
    const pages = files.filter((file) =>
      /^(docs\/.*|[A-Z]+|packages\/[^/]+\/[A-Z]+)\.md$/.test(file),
    );
    const missing: string[] = [];
    for (const page of pages) {
      for (const match of readText(page).matchAll(/\]\((?!http)([^)#]+)[^)]*\)/g)) {
        const target = match[1] ?? "";
        const path = new URL(target, `file:///${page}`).pathname.slice(1);
        const exists = files.some(
          (file) => file === path || file.startsWith(path.replace(/\/?$/, "/")),
        );
        if (!exists) missing.push(`${target} in ${page}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it("promises nothing without a test that exists", () => {
    // What oracles of the simulation judge is looked after by sim-mutants/promises.test.ts.
    const [tested = ""] = readText("docs/promises.md").split("## Invariants");
    const rows = tested
      .split("\n")
      .filter((line) => /^\| [A-Z]/.test(line) && !line.startsWith("| Id"));
    expect(rows.length).toBeGreaterThan(0);
    // A merge of two edits of one row leaves both, of which one is out of date.
    const promises = rows.map((row) => row.split("|").slice(1, 3).join("|"));
    expect(promises.filter((promise, i) => promises.indexOf(promise) !== i)).toEqual([]);
    for (const row of rows) {
      const cited = [...row.matchAll(/`([^`]+\.ts)`/g)].map((match) => match[1] ?? "");
      expect(cited.length, row).toBeGreaterThan(0);
      for (const file of cited) expect(files, row).toContain(file);
    }
  });
});
