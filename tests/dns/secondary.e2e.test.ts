/** A real BIND as secondary: it transfers the zone with the key, is told of changes, and gets nothing with another key. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { putGlobalExample, reportReady } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ONLY_API, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import {
  freePort,
  removeDirectory,
  type RunningProcess,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";

const run = promisify(execFile);
const APEX = "myfederation.svc.example.com";
const SECRET = randomBytes(32).toString("base64");

let lifeboat: RunningLifeboat;
let plane: HttpClient;
let primary = 0;
let secondary = 0;
let stranger = 0;
const directory = temporaryDirectory("bind");
const servers: RunningProcess[] = [];

beforeAll(async () => {
  [primary, secondary, stranger] = await Promise.all([freePort(), freePort(), freePort()]);
  const keys = join(directory, "keys");
  writeFileSync(keys, `hmac-sha256:transfer:${SECRET}\n`);
  lifeboat = await startLifeboat({
    args: [
      ...ONLY_API,
      `--dns-listen=127.0.0.1:${primary}`,
      "--dns-zone=example.com",
      "--federation-name=myfederation",
      `--dns-tsig-key-file=${keys}`,
      `--dns-secondaries=127.0.0.1:${secondary},127.0.0.1:${stranger}`,
    ],
  });
  plane = await connectByKubeconfig({ paths: [lifeboat.kubeconfig] });
  await putGlobalExample(plane, { shares: { c1: 4, c2: 4, c3: 3 } });
  servers.push(startBind("secondary", secondary, SECRET));
  servers.push(startBind("stranger", stranger, randomBytes(32).toString("base64")));
});

afterAll(async () => {
  plane.close();
  for (const server of servers) await server.stop("SIGKILL");
  await lifeboat.stop();
  removeDirectory(directory);
});

function startBind(name: string, port: number, secret: string): RunningProcess {
  const file = join(directory, `${name}.conf`);
  writeFileSync(
    file,
    `options { directory "${directory}"; pid-file none; session-keyfile none; recursion no; notify no;
       listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; dnssec-validation no; };
     controls { };
     key "transfer" { algorithm hmac-sha256; secret "${secret}"; };
     zone "${APEX}" { type secondary; file "${name}.zone"; masterfile-format text;
       primaries { 127.0.0.1 port ${primary} key "transfer"; }; };\n`,
  );
  return startProcess("/usr/sbin/named", ["-g", "-n", "1", "-c", file]);
}

async function listed(port: number): Promise<readonly string[]> {
  const args = ["@127.0.0.1", "-p", String(port), "+short", "+tries=1", "+time=2"];
  const { stdout } = await run("dig", [...args, "SRV", `etcd.mynamespace.${APEX}`]);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}

describe("a BIND secondary", () => {
  it("has the whole zone by a signed transfer, and answers as we do", async () => {
    await eventually(async () => expect(await listed(secondary)).toHaveLength(11), 60_000);
    expect(await listed(secondary)).toEqual(await listed(primary));
  });

  it("is told of a change at once: long before it would ask again", async () => {
    await reportReady(plane, "c1", "False");
    // The zone's refresh is five minutes.
    await eventually(async () => expect(await listed(secondary)).toHaveLength(7), 30_000);
    expect(servers[0]?.output()).toContain("received notify for zone");
  });

  it("with another key gets nothing", async () => {
    await servers[1]?.printed(/tsig verify failure|TSIG|BADSIG|NOTAUTH/i);
    const args = ["@127.0.0.1", "-p", String(stranger), "+tries=1", "+time=2", "SOA", APEX];
    const { stdout } = await run("dig", args);
    expect(stdout).not.toContain("status: NOERROR");
  });

  it("dig transfers with the key, and is refused without and with another one", async () => {
    const transfer = async (...key: string[]): Promise<string> => {
      const args = ["@127.0.0.1", "-p", String(primary), ...key, "AXFR", APEX];
      return (await run("dig", args).catch(({ stdout }: { stdout: string }) => ({ stdout })))
        .stdout;
    };
    expect(await transfer("-y", `hmac-sha256:transfer:${SECRET}`)).toMatch(/XFR size: \d+ records/);
    expect(await transfer()).toContain("Transfer failed");
    const wrong = randomBytes(32).toString("base64");
    expect(await transfer("-y", `hmac-sha256:transfer:${wrong}`)).not.toContain("XFR size");
  });
});
