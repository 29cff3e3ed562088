/**
 * Every replica of a manager beside a real kube-apiserver answers the federation's names, with the rights of its account alone, and so
 * does `lifeboat dns serve` with those of the account that installing made for it.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { putGlobalExample, reportReady } from "@lifeboat/testkit";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { freePort, startProcess } from "../support/processes.ts";
import { startEtcd } from "../support/real-api-server.ts";
import { startAll } from "../support/started.ts";
import {
  accountKubeconfig,
  install,
  managerKubeconfig,
  startManager,
  startRealPlane,
} from "./real-plane.ts";

const run = promisify(execFile);
const NAME = "etcd.mynamespace.myfederation.svc.example.com";

async function listed(port: number): Promise<number> {
  const args = ["@127.0.0.1", "-p", String(port), "+short", "+tries=1", "+time=2", "SRV", NAME];
  const { stdout } = await run("dig", args);
  return stdout.split("\n").filter((line) => line !== "").length;
}

it("two replicas answer, also when one of them is killed, and the status names them", async () => {
  await startAll(async (started) => {
    const etcd = started.keep(await startEtcd());
    const server = await startRealPlane(started, etcd);
    const webhook = await freePort();
    await install(server, webhook);
    const account = await managerKubeconfig(server);
    const ports = [await freePort(), await freePort()] as const;
    const flags = (port: number): readonly string[] => [
      "--controllers=settings",
      `--dns-listen=127.0.0.1:${port}`,
      "--dns-zone=example.com",
      "--federation-name=myfederation",
    ];
    const first = started.keep(await startManager(account, webhook, flags(ports[0])));
    started.keep(await startManager(account, await freePort(), flags(ports[1])));
    const plane = await connectByKubeconfig({ paths: [server.kubeconfig] });
    await putGlobalExample(plane, { shares: { c1: 2, c2: 2, c3: 1 } });
    const own = await freePort();
    const names = startProcess(lifeboatCommand, [
      "dns",
      "serve",
      `--kubeconfig=${await accountKubeconfig(server, "lifeboat-dns")}`,
      `--dns-listen=127.0.0.1:${own}`,
      "--dns-zone=example.com",
      "--federation-name=myfederation",
      "--health-listen=127.0.0.1:0",
    ]);
    started.keep({ stop: () => names.stop("SIGKILL") });
    for (const port of [...ports, own])
      await eventually(async () => expect(await listed(port)).toBe(5));
    await eventually(async () => {
      const { stdout } = await run(lifeboatCommand, ["status", "--kubeconfig", server.kubeconfig]);
      expect(stdout).toContain("of myfederation.svc.example.com");
    });
    await first.stop("SIGKILL");
    await reportReady(plane, "c1", "False");
    for (const port of [ports[1], own])
      await eventually(async () => expect(await listed(port)).toBe(3));
    expect(names.output()).not.toMatch(/forbidden/i);
    plane.close();
    await started.stop();
  });
});
