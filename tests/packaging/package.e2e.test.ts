/** What is given to others, used as they use it: the npm package in an empty directory, the image without docker, the unit. */
import { execFileSync } from "node:child_process";
import { chownSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildImage,
  type Image,
  type InstalledPackage,
  installPackage,
  runContainer,
} from "../support/image.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const { version } = JSON.parse(readFileSync(file("packages/cli/package.json"), "utf8"));

let installed: InstalledPackage;
beforeAll(() => {
  installed = installPackage();
});
afterAll(() => installed?.remove());

describe("the npm package", () => {
  it("brings the packages of the workspace along, and neither sources nor tests", () => {
    const folder = join(installed.app, "node_modules/lifeboat");
    expect(readdirSync(join(folder, "node_modules/@lifeboat"))).toContain("apiserver");
    const all = readdirSync(folder, { recursive: true, encoding: "utf8" });
    expect(all.filter((name) => /\.(ts|map)$|\.(test|suite)\.js$/.test(name))).toEqual([]);
    expect(readdirSync(join(installed.app, "node_modules"))).not.toContain("@lifeboat");
  });

  it("has what only `lifeboat simulate` loads, and nothing that only tests need", () => {
    const folder = join(installed.app, "node_modules/lifeboat");
    const script = `const { playFailure } = await import("@lifeboat/sim"); console.log(typeof playFailure)`;
    const args = ["--input-type=module", "-e", script];
    expect(execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" })).toBe(
      "function\n",
    );
    expect(readdirSync(join(installed.app, "node_modules"))).not.toContain("fast-check");
  });

  it("tells the story in an empty directory with `npx lifeboat demo --fast`", async () => {
    const home = temporaryDirectory("home");
    const inside = 'cd "$1" && exec npx lifeboat demo --fast';
    const demo = startProcess("sh", ["-c", inside, "sh", installed.app], {
      HOME: home,
      XDG_DATA_HOME: home,
    });
    expect(await demo.ended, demo.output()).toBe(0);
    // Which member is the busiest, and dies, depends on the order in which the workloads came.
    expect(demo.output()).toMatch(/every workload is whole again, without member[123]/);
    removeDirectory(home);
  });
});

describe("the image", () => {
  let image: Image;
  const data = temporaryDirectory("volume");
  beforeAll(() => {
    image = buildImage(installed);
    chownSync(data, 65_532, 65_532);
  });
  afterAll(() => {
    image?.remove();
    removeDirectory(data);
  });

  // Beside Node's libraries the chroot has nothing, so what runs here needs no shell; the image of Node has one.
  it("runs its command beside Node alone, as a user without rights, on a read-only root", async () => {
    const told = runContainer(image, { args: ["version", "--client"] });
    expect(await told.ended, told.output()).toBe(0);
    expect(told.output()).toContain(version);
    const script = [
      `console.log(process.getuid(), process.pid)`,
      `try { require("fs").writeFileSync("/app/x", "") } catch (error) { console.log(error.code) }`,
    ];
    const shown = runContainer(image, { entrypoint: ["node"], args: ["-e", script.join(";")] });
    expect(await shown.ended, shown.output()).toBe(0);
    expect(shown.output()).toBe("65532 1\nEROFS\n");
  });

  it("runs `up` until it is ready, with its volume alone to write to, and stops in order", async () => {
    const [volume = ""] = image.volumes;
    const up = runContainer(image, {
      args: ["up", "--listen=127.0.0.1:0"],
      mounts: [{ from: data, at: volume, readOnly: false }],
    });
    await up.printed(/^ready$/m);
    expect(readdirSync(data)).toContain("lifeboat.kubeconfig");
    expect(await up.terminate(), up.output()).toBe(0);
  });
});

describe("the systemd unit", () => {
  it("is understood by systemd, and starts what the package installs", () => {
    const unit = file("deploy/systemd/lifeboat.service");
    const [, command] = /^ExecStart=(\S+)/m.exec(readFileSync(unit, "utf8")) ?? [];
    expect(command).toBe("/opt/lifeboat/node_modules/.bin/lifeboat");
    const root = temporaryDirectory("unit");
    const verified = execFileSync("sh", [
      "-c",
      'mkdir -p "$1/opt/lifeboat/node_modules/.bin" "$1/etc/systemd/system" && cp "$2" "$1/etc/systemd/system/" &&' +
        'cp /bin/true "$1/opt/lifeboat/node_modules/.bin/lifeboat" &&' +
        'mkdir -p "$1/usr/lib/systemd" && cp -r /lib/systemd/system "$1/usr/lib/systemd/" &&' +
        'systemd-analyze verify --recursive-errors=no --root="$1" lifeboat.service 2>&1',
      "sh",
      root,
      unit,
    ]);
    expect(verified.toString()).toBe("");
    removeDirectory(root);
  });
});
