/**
 * Lint rule `lifeboat/layers`: sources import only lower layers, never a package of their own layer, never another
 * package's inside, and Node's own modules only in adapters and in the command. Tests may also use the testkit.
 */
const LAYERS = {
  base: 0,
  api: 1,
  core: 2,
  kit: 3,
  apiserver: 4,
  controllers: 4,
  members: 4,
  proxy: 4,
  traffic: 4,
  dns: 4,
  plane: 5,
  sim: 6,
  dashboard: 7,
  cli: 7,
};

/** The dashboard runs in a browser: it sees objects and decisions, nothing that needs a process. */
const HIGHEST_FOR = { dashboard: 2 };

const place = (filename) =>
  /packages\/([^/]+)\/(?:src|test)\/(.*)$/.exec(filename.replaceAll("\\", "/"));

function complaint(source, from, path) {
  const isAdapter = path.startsWith("adapters/") || from === "cli";
  const isTest = /\.(test|suite|bench)\.ts$/.test(path);
  if (source.startsWith("node:")) {
    const allowed = isAdapter || (isTest && LAYERS[from] > 2);
    return allowed ? undefined : `${source} is for adapters: take a port instead`;
  }
  const match = /^@lifeboat\/([^/]+)(?:\/(.+))?$/.exec(source);
  if (match === null) return undefined;
  const [, to, inside] = match;
  if (to === "testkit")
    return isTest || from === "sim" ? undefined : "the testkit is for tests and the simulation";
  if (inside !== undefined && /(^|\/)(src|dist)(\/|$)|\.[jt]s$/.test(inside))
    return `import ${to} by its index, or by that of one of its folders`;
  if (inside === "adapters" && !isAdapter && !isTest)
    return "adapters are loaded by composition roots only";
  if (LAYERS[to] === undefined) return `${to} has no layer; give it one in tools/lint/layers.js`;
  if (to === from || isTest) return undefined;
  const highest = HIGHEST_FOR[from] ?? LAYERS[from] - 1;
  return LAYERS[to] <= highest
    ? undefined
    : `${from} (layer ${LAYERS[from]}) may not import ${to} (layer ${LAYERS[to]})`;
}

const check = (context) => {
  const [, from, path] = place(context.filename ?? context.getFilename()) ?? [];
  if (from === undefined) return {};
  const visit = (node) => {
    const source = node.source?.value;
    if (typeof source !== "string") return;
    const message = complaint(source, from, path);
    if (message !== undefined) context.report({ node, message });
  };
  return { ImportDeclaration: visit, ExportNamedDeclaration: visit, ExportAllDeclaration: visit };
};

export const layers = { create: check };
