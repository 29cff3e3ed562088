/**
 * The image that deploy/Dockerfile describes, built and run without docker: its build commands are carried out in this repository,
 * what it copies is put beside Node and the libraries of Node, and nothing else. A container of it is a chroot with a read-only
 * root, with process numbers, mounts and an environment of its own. It needs root, and shares the network of this machine.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "./processes.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));

export interface Image {
  readonly root: string;
  readonly entrypoint: readonly string[];
  /** `uid:gid`. */
  readonly user: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  remove(): void;
}

export interface Mount {
  readonly from: string;
  /** In the container. */
  readonly at: string;
  readonly readOnly: boolean;
}

export interface Container {
  /** Instead of the image's own. */
  readonly entrypoint?: readonly string[] | undefined;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly mounts?: readonly Mount[];
  readonly user?: string;
}

export interface InstalledPackage {
  /** The directory with its `node_modules`. */
  readonly app: string;
  remove(): void;
}

/** Builds the npm package as the Dockerfile does, and installs it into an empty directory. */
export function installPackage(): InstalledPackage {
  const directory = temporaryDirectory("package");
  const [build = []] = stages();
  const commands = build.filter(([word]) => word === "RUN").map(([, rest]) => rest);
  for (const command of commands) {
    // What the clone of the repository has already.
    if (command.startsWith("npm ci ")) continue;
    const here = command
      .replaceAll("/src/", repository)
      .replaceAll(" /app", ` ${join(directory, "app")}`)
      .replaceAll(" /data", ` ${join(directory, "data")}`);
    execFileSync("sh", ["-c", here], { cwd: repository, stdio: ["ignore", "ignore", "pipe"] });
  }
  return { app: join(directory, "app"), remove: () => removeDirectory(directory) };
}

export function buildImage(installed: InstalledPackage): Image {
  const root = temporaryDirectory("image");
  const [, run = []] = stages();
  const all = (word: string): readonly string[] =>
    run.filter(([first]) => first === word).map(([, rest]) => rest);
  copyNode(root);
  for (const folder of ["proc", "dev", "tmp"]) mkdirSync(join(root, folder));
  for (const line of all("COPY")) copy(line, dirname(installed.app), root);
  // A container starts as another user, which has to pass.
  chmodSync(root, 0o755);
  return {
    root,
    entrypoint: JSON.parse(all("ENTRYPOINT").at(-1) ?? "[]") as readonly string[],
    user: all("USER").at(-1) ?? "0:0",
    environment: Object.fromEntries(all("ENV").map((one) => one.split("=", 2))) as Readonly<
      Record<string, string>
    >,
    volumes: all("VOLUME"),
    remove: () => removeDirectory(root),
  };
}

export interface RunningContainer extends RunningProcess {
  /** Sends SIGTERM to its first process, as a kubelet does, and waits for its end. */
  terminate(): Promise<number | string>;
}

/** Runs the image with a read-only root; only the mounts, and `/tmp` as memory, can be written to. */
export function runContainer(image: Image, container: Container): RunningContainer {
  const { args, environment = {}, mounts = [], user = image.user } = container;
  for (const { at } of mounts) mkdirSync(join(image.root, at), { recursive: true });
  const words = { PATH: "/usr/local/bin", ...image.environment, ...environment };
  const binds = mounts.flatMap(({ from, at, readOnly }) => [from, at, readOnly ? "ro" : "rw"]);
  const settings = Object.entries(words).map(([name, value]) => `${name}=${value}`);
  const world = ["--mount", "--pid", "--fork", "--kill-child"];
  const inside = ["env", "-i", ...settings, which("chroot"), `--userspec=${user}`, "--groups="];
  const running = startProcess("unshare", [
    ...world,
    "sh",
    "-c",
    START,
    "sh",
    image.root,
    ...binds,
    "--",
    ...inside,
    image.root,
    ...(container.entrypoint ?? image.entrypoint),
    ...args,
  ]);
  return {
    ...running,
    terminate: () => {
      const children = readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, "utf8");
      process.kill(Number(children.trim()), "SIGTERM");
      return running.ended;
    },
  };
}

const START = `
set -e
root=$1; shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
while [ "$1" != -- ]; do
  mount --bind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
  shift 3
done
shift
mount -o remount,bind,ro "$root"
exec "$@"
`;

/** The stages of the Dockerfile, each as its instructions with their first word. */
function stages(): readonly (readonly (readonly [string, string])[])[] {
  const lines = readFileSync(join(repository, "deploy/Dockerfile"), "utf8").split("\n");
  const all: [string, string][][] = [];
  for (const line of lines.filter((text) => text !== "" && !text.startsWith("#"))) {
    const [, word = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    if (word === "FROM") all.push([]);
    else all.at(-1)?.push([word, rest]);
  }
  return all;
}

/** `--from=build [--chown=U:G] SOURCE TARGET`: the only form that is used. */
function copy(line: string, build: string, root: string): void {
  const match = /^--from=build (?:--chown=(\d+):(\d+) )?(\S+) (\S+)$/.exec(line);
  if (match === null) throw new Error(`the test does not know this COPY: ${line}`);
  const [, user, group, source = "", target = ""] = match;
  cpSync(join(build, source), join(root, target), { recursive: true, verbatimSymlinks: true });
  if (user !== undefined) chownSync(join(root, target), Number(user), Number(group));
}

/** Node stands where its images have it. */
function copyNode(root: string): void {
  const place = (from: string, to: string): void => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    cpSync(realpathSync(from), join(root, to));
  };
  place(process.execPath, "/usr/local/bin/node");
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  for (const [, path = ""] of libraries.matchAll(/(\/\S+)(?= \(0x)/g))
    if (existsSync(path)) place(path, path);
}

function which(program: string): string {
  const [path] = [`/usr/sbin/${program}`, `/usr/bin/${program}`].filter((one) => existsSync(one));
  if (path === undefined) throw new Error(`this test needs ${program}`);
  return path;
}
