/**
 * Lint rule `lifeboat/folders`: which folder of a package may import which, as the tables of its README state it.
 *
 *   core          one table in order: an entry imports entries of rows above its own
 *   apiserver     the same
 *   controllers   two tables: an entry imports the shared ones, and no other controller
 *
 * 1. An entry is the path of a folder (`failover/taints/`) or file (`plan.ts`) in `src/`, in the first cell of a row. Of nested
 *    entries the longest counts, so folders may be grouped: only the tables change then.
 * 2. What is in no table may not be imported and may import nothing: a new folder is written down first.
 * 3. Adapters implement ports of their package and may import all of it. Tests, and the index that lists what is exported, too.
 */
import { readFileSync } from "node:fs";
import { posix } from "node:path";

/** How the first header cell of a README's table is called, and what the table says. */
const TABLES = {
  core: { ordered: "Folder" },
  apiserver: { ordered: "Folder" },
  controllers: { shared: "Shared", apart: "Controller" },
};

export const PACKAGES_WITH_FOLDERS = Object.keys(TABLES);

/** The entries of each table of a package's README, in their order. */
export function foldersOf(name, readme) {
  const tables = {};
  for (const [meaning, header] of Object.entries(TABLES[name])) {
    const [, rows] =
      new RegExp(`^\\| ${header} +\\|.*\\n\\|[- |]+\\n((?:\\|.*\\n?)+)`, "m").exec(readme) ?? [];
    if (rows === undefined) throw new Error(`the README of ${name} has no table "${header}"`);
    tables[meaning] = rows
      .split("\n")
      .filter((row) => row !== "")
      .map((row) => /^\| `([^`]+)` +\|/.exec(row)?.[1] ?? `a row without a path: ${row}`);
  }
  return tables;
}

/** Why a file of a package may not import another one of it, by paths in `src/`; undefined: it may. */
export function folderComplaint(tables, from, to) {
  const entries = Object.values(tables).flat();
  const [importer, imported] = [entryOf(entries, from), entryOf(entries, to)];
  if (importer === undefined) return `${from} is in no table of the package's README`;
  if (imported === undefined) return `${to} is in no table of the package's README`;
  if (importer === imported) return undefined;
  const { ordered, shared, apart } = tables;
  if (ordered !== undefined) {
    const isAbove = ordered.indexOf(imported) < ordered.indexOf(importer);
    return isAbove
      ? undefined
      : `${importer} may not import ${imported}, which stands below it in the package's README`;
  }
  if (shared.includes(imported)) return undefined;
  return apart.includes(importer)
    ? `${importer} may not import ${imported}: controllers share only what the package's README lists as shared`
    : `${importer} is shared and may not import the controller ${imported}`;
}

function entryOf(entries, path) {
  const holding = entries.filter((entry) =>
    entry.endsWith("/") ? path.startsWith(entry) : path === entry,
  );
  return holding.sort((a, b) => b.length - a.length)[0];
}

const tablesByPackage = new Map();

function tablesFor(name) {
  if (!tablesByPackage.has(name)) {
    const file = new URL(`../../packages/${name}/README.md`, import.meta.url);
    tablesByPackage.set(name, foldersOf(name, readFileSync(file, "utf8")));
  }
  return tablesByPackage.get(name);
}

const IS_FREE = /(^|\/)index\.ts$|(^|\/)adapters\/|\.(test|suite|bench)\.ts$/;

const check = (context) => {
  const filename = (context.filename ?? context.getFilename()).replaceAll("\\", "/");
  const [, name, path] = /packages\/([^/]+)\/src\/(.*)$/.exec(filename) ?? [];
  if (TABLES[name] === undefined || IS_FREE.test(path)) return {};
  const visit = (node) => {
    const source = node.source?.value;
    if (typeof source !== "string") return;
    if (source === `@lifeboat/${name}` || source.startsWith(`@lifeboat/${name}/`)) {
      context.report({ node, message: `${name} imports its own files by relative paths` });
      return;
    }
    if (!source.startsWith(".")) return;
    const to = posix.join(posix.dirname(path), source);
    // Data of the package, such as its manifest, is outside of its sources.
    if (to.startsWith("..")) return;
    const message = folderComplaint(tablesFor(name), path, to);
    if (message !== undefined) context.report({ node, message });
  };
  return {
    ImportDeclaration: visit,
    ImportExpression: visit,
    ExportNamedDeclaration: visit,
    ExportAllDeclaration: visit,
  };
};

export const folders = { create: check };
