/** `lifeboat up` as a process: what it prints, what it refuses, how it ends, what it keeps. */
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createKubectl } from "../support/kubectl.ts";
import { kubernetesBinary } from "../support/kubernetes-binaries.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";

const directories: string[] = [];
const running: RunningLifeboat[] = [];

function ownDirectory(): string {
  const directory = temporaryDirectory("up-test");
  directories.push(directory);
  return directory;
}

async function start(
  dataDirectory: string,
  args: readonly string[] = [],
): Promise<RunningLifeboat> {
  const lifeboat = await startLifeboat({ dataDirectory, args });
  running.push(lifeboat);
  return lifeboat;
}

afterEach(async () => {
  for (const lifeboat of running.splice(0)) await lifeboat.process.stop("SIGKILL");
  for (const directory of directories.splice(0)) removeDirectory(directory);
});

function lifeboat(...args: string[]): ReturnType<typeof startProcess> {
  return startProcess(lifeboatCommand, args);
}

describe("starting", () => {
  it("names the advertised address in its kubeconfig and certificate", async () => {
    const args = ["--advertise", "lifeboat.example:7443"];
    const child = lifeboat("up", "--data-dir", ownDirectory(), "--listen", "127.0.0.1:0", ...args);
    await child.printed(/^ready$/m);
    const directory = directories.at(-1) ?? "";
    expect(child.output()).toContain("https://lifeboat.example:7443");
    const kubeconfig = readFileSync(join(directory, "lifeboat.kubeconfig"), "utf8");
    expect(kubeconfig).toContain("https://lifeboat.example:7443");
    const server = new X509Certificate(readFileSync(join(directory, "pki/server.crt")));
    expect(server.checkHost("lifeboat.example")).toBe("lifeboat.example");
    expect(server.checkHost("localhost")).toBe("localhost");
    expect(await child.stop()).toBe(0);
    const open = lifeboat("up", "--data-dir", ownDirectory(), "--advertise", ":7443");
    expect(await open.ended).toBe(2);
    expect(open.output()).toContain("that others use");
  });

  it("says ready alone on a line and how to reach it", async () => {
    const { process: child, kubeconfig } = await start(ownDirectory());
    expect(child.output()).toContain(`export KUBECONFIG=${kubeconfig}`);
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
  });

  it("writes the kubeconfig where it is told to", async () => {
    const elsewhere = join(ownDirectory(), "deep", "inside");
    await start(ownDirectory(), ["--kubeconfig-dir", elsewhere]);
    expect(existsSync(join(elsewhere, "lifeboat.kubeconfig"))).toBe(true);
  });

  it("keeps its data and its certificates private", async () => {
    const directory = ownDirectory();
    await start(join(directory, "data"));
    expect(statSync(join(directory, "data")).mode & 0o077).toBe(0);
  });

  it("refuses a second instance on the same directory with a sentence, and leaves the first alone", async () => {
    const directory = ownDirectory();
    const first = await start(directory);
    const second = lifeboat("up", "--data-dir", directory, "--listen", "127.0.0.1:0");
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/lifeboat: .*(another|in use|already)/i);
    const kubectl = createKubectl(first);
    expect(await kubectl.run(["get", "namespaces", "default", "-o", "name"])).toMatchObject({
      code: 0,
    });
    kubectl.close();
  });

  it("refuses a port that is taken with a sentence", async () => {
    const first = await start(ownDirectory());
    const second = lifeboat(
      "up",
      "--data-dir",
      ownDirectory(),
      "--listen",
      `127.0.0.1:${first.port}`,
    );
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`cannot listen on 127.0.0.1:${first.port}`);
  });

  it("refuses a directory that holds something else, and overwrites nothing", async () => {
    const directory = ownDirectory();
    const { mkdirSync } = await import("node:fs");
    mkdirSync(join(directory, "store"));
    writeFileSync(join(directory, "store", "thesis.txt"), "years of work");
    const refused = lifeboat("up", "--data-dir", directory, "--listen", "127.0.0.1:0");
    expect(await refused.ended).toBe(1);
    expect(readFileSync(join(directory, "store", "thesis.txt"), "utf8")).toBe("years of work");
  });

  it.each([
    [["up", "--listen", "nonsense"], "--listen"],
    [["up", "--listen", "127.0.0.1:99999"], "--listen"],
    [["up", "--log-level", "loud"], "--log-level"],
    [["up", "--nonsense"], "--nonsense"],
    [["sink"], "sink"],
    [["up", "--config", "nowhere.yaml"], "nowhere.yaml"],
  ])("calls %j a wrong call: exit code 2", async (args, named) => {
    const refused = lifeboat(...args);
    expect(await refused.ended).toBe(2);
    expect(refused.output()).toContain(named);
  });
});

describe("stopping", () => {
  it("ends with code 0 on SIGTERM, and what was written is there after a restart", async () => {
    const directory = ownDirectory();
    const first = await start(directory);
    const kubectl = createKubectl(first);
    await kubectl.run(["create", "configmap", "kept", "--from-literal=a=1"]);
    expect(await first.process.stop("SIGTERM")).toBe(0);
    const second = await startLifeboat({ dataDirectory: directory, port: first.port });
    running.push(second);
    const read = await kubectl.run(["get", "configmap", "kept", "-o", "jsonpath={.data.a}"]);
    expect(read.stdout).toBe("1");
    kubectl.close();
  });

  it("ends a watch in order, so that kubectl ends without an error", async () => {
    const first = await start(ownDirectory());
    const kubectl = createKubectl(first);
    const args = ["--kubeconfig", first.kubeconfig, "get", "cm", "-w", "--output-watch-events"];
    const watching = startProcess(kubernetesBinary("kubectl"), args);
    await kubectl.run(["create", "configmap", "seen"]);
    await watching.printed(/ADDED +seen/);
    expect(await first.process.stop("SIGTERM")).toBe(0);
    expect(await watching.ended).toBe(0);
    kubectl.close();
  });
});

describe("lifeboat version", () => {
  it("tells the versions of the command and of the control plane", async () => {
    const { kubeconfig } = await start(ownDirectory());
    const asked = lifeboat("version", "-o", "json", "--kubeconfig", kubeconfig);
    expect(await asked.ended).toBe(0);
    const { client, server } = JSON.parse(asked.output()) as Record<string, { version: string }>;
    expect(client?.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(server).toEqual({
      version: client?.version,
      kubernetes: expect.stringMatching(/^v1\./),
    });
  });

  it("tells its own version where there is no control plane, and that there is none", async () => {
    const asked = lifeboat("version", "--kubeconfig", "/nowhere");
    expect(await asked.ended).toBe(1);
    expect(asked.output()).toMatch(/^client: lifeboat \d/);
    expect(await lifeboat("version", "--client").ended).toBe(0);
  });
});
