/**
 * `npm run package`: the command as one npm package, `dist/lifeboat.tgz`, that installs in any directory.
 *
 * The workspace packages are private and are in no registry, so they travel inside it (`bundleDependencies`); what they need from
 * others becomes a dependency of the package itself, with the exact versions that are tested here. Nothing is rewritten: the files
 * are those of `npm run build`, without declarations and source maps.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const SCOPE = "@lifeboat/";
const stage = join(root, "dist/package");

execFileSync(process.execPath, [join(root, "tools/build.js")], { stdio: "inherit" });
rmSync(join(root, "dist"), { recursive: true, force: true });
mkdirSync(stage, { recursive: true });

const manifestOf = (folder) =>
  JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"));
const command = manifestOf("cli");
const bundled = new Map();
const foreign = new Map();
gather(command);

copyBuilt("cli", stage);
cpSync(join(root, "packages/cli/bin"), join(stage, "bin"), { recursive: true });
for (const file of ["LICENSE", "README.md"]) cpSync(join(root, file), join(stage, file));
for (const [folder, manifest] of bundled) {
  const target = join(stage, "node_modules", manifest.name);
  copyBuilt(folder, target);
  write(target, { ...manifest, exports: withoutSources(manifest.exports) });
}
const names = [...bundled.values()].map(({ name }) => name).toSorted(inOrder);
write(stage, {
  ...command,
  private: undefined,
  dependencies: {
    ...Object.fromEntries([...foreign].toSorted(([a], [b]) => inOrder(a, b))),
    ...Object.fromEntries(names.map((name) => [name, command.version])),
  },
  bundleDependencies: names,
});

const [packed] = JSON.parse(
  execFileSync("npm", ["pack", "--json", "--pack-destination", join(root, "dist")], {
    cwd: stage,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }),
);
renameSync(join(root, "dist", packed.filename), join(root, "dist/lifeboat.tgz"));
process.stdout.write(
  `dist/lifeboat.tgz: ${command.version}, ${packed.entryCount} files, ${(packed.size / 2 ** 20).toFixed(1)} MiB\n`,
);

/** By code units, whatever the machine speaks. */
function inOrder(a, b) {
  return a < b ? -1 : 1;
}

/** Every workspace package that a manifest needs, and every version of others that these name. */
function gather({ dependencies = {} }) {
  for (const [name, version] of Object.entries(dependencies)) {
    if (!name.startsWith(SCOPE)) {
      if ((foreign.get(name) ?? version) !== version)
        throw new Error(`two packages of the workspace need different versions of ${name}`);
      foreign.set(name, version);
      continue;
    }
    const folder = name.slice(SCOPE.length);
    if (bundled.has(folder)) continue;
    const manifest = manifestOf(folder);
    bundled.set(folder, manifest);
    gather(manifest);
  }
}

function copyBuilt(folder, target) {
  cpSync(join(root, "packages", folder, "dist"), join(target, "dist"), {
    recursive: true,
    filter: (file) => !/(\.d\.ts|\.map|\.tsbuildinfo)$/.test(file),
  });
}

/** Sources are not in the package, and a program that is started with our condition must not look for them. */
function withoutSources(exports = {}) {
  return Object.fromEntries(
    Object.entries(exports).map(([path, ways]) => [path, { default: ways.default }]),
  );
}

function write(directory, manifest) {
  writeFileSync(join(directory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
