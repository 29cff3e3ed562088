/**
 * The errors of commands that are not in the table of error-paths-connected.test.ts: those that serve until they are stopped, that work
 * on files of this host, or speak to something else than a control plane. Each ends with a documented exit code and a sentence that
 * names what is wrong, and what to do where that does not follow from it.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main as agentMain } from "./agent/main.ts";
import { elsewhere } from "./error-elsewhere.suite.ts";
import {
  directory,
  expectSentence,
  kubeconfig,
  run,
  runBy,
  sentenceOf,
} from "./error-paths.suite.ts";

const file = join(directory, "a-file");
const empty = join(directory, "empty");
const inUse = join(directory, "in-use");
const plane = join(directory, "closed.kubeconfig");
/** In the directory of this run: what is made there by mistake goes with it. */
const NOWHERE = join(directory, "nowhere");

let server: Server;
let taken = "";
let hook = "";
beforeAll(async () => {
  writeFileSync(file, "this is no directory, no backup, no template and no kubeconfig\n");
  mkdirSync(empty);
  mkdirSync(join(inUse, "pki"), { recursive: true });
  writeFileSync(plane, "");
  server = createServer((request, response) => {
    response.writeHead(request.url === "/well" ? 204 : 500).end("no_service");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  taken = `127.0.0.1:${port}`;
  hook = `http://127.0.0.1:${port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** `CLOSED`: a kubeconfig of an address where nothing listens. `TAKEN`: an address that is in use. `HOOK`: a webhook. */
type Case = readonly [call: string, code: number, sentence: RegExp];

const CASES: readonly Case[] = [
  [`up --data-dir FILE`, 1, /FILE.*(directory|file)/],
  [`up --data-dir EMPTY --listen nowhere`, 2, /--listen.*HOST:PORT/],
  [`up --data-dir EMPTY --feature-gates Failover=maybe`, 2, /feature-gates/],
  [`up --data-dir EMPTY --token-auth-file NOWHERE`, 2, /--token-auth-file/],
  [`up --data-dir EMPTY --members many`, 2, /--members.*whole number/],
  [`up --data-dir EMPTY --log-level loud`, 2, /log-level/],
  [`up --data-dir EMPTY --encryption-key-file NOWHERE`, 2, /--encryption-key-file/],
  [`demo --story none`, 2, /--story/],
  [`demo --step`, 2, /terminal/],
  [`manager --kubeconfig NOWHERE`, 1, /no kubeconfig at/],
  [`manager --kubeconfig CLOSED --webhook-listen nowhere`, 2, /--webhook-listen.*HOST:PORT/],
  [`manager --kubeconfig CLOSED --health-listen TAKEN`, 1, /TAKEN.*in use/],
  [`manager --kubeconfig CLOSED --feature-gates Failover=maybe`, 2, /feature-gates/],
  [`members --members many`, 2, /--members.*whole number/],
  [`members --data-dir FILE --kubeconfig CLOSED --members 1`, 1, /FILE/],
  [`agent`, 2, /--cluster-name is needed/],
  [`agent --cluster-name eu-1`, 2, /--karmada-kubeconfig is needed/],
  [
    `agent --cluster-name eu-1 --karmada-kubeconfig NOWHERE`,
    1,
    /no kubeconfig at .*--karmada-kubeconfig/,
  ],
  [`agent --cluster-name eu-1 --karmada-kubeconfig FILE`, 1, /FILE/],
  [
    `agent --cluster-name eu-1 --karmada-kubeconfig CLOSED --cluster-kubeconfig NOWHERE`,
    1,
    /the member cannot be reached: .*no kubeconfig at/,
  ],
  [
    `agent --cluster-name eu-1 --karmada-kubeconfig CLOSED --cluster-kubeconfig CLOSED --health-listen TAKEN`,
    1,
    /TAKEN.*in use/,
  ],
  [`detector`, 2, /is needed/],
  [`detector --cluster-name eu-1 --probe sing`, 2, /--probe/],
  [`detector --cluster-name eu-1 --karmada-kubeconfig NOWHERE`, 1, /no kubeconfig at/],
  [`gateway --kubeconfig NOWHERE`, 1, /no kubeconfig at/],
  [`gateway --kubeconfig CLOSED --provider magic`, 2, /--provider.*embedded/],
  [`gateway --kubeconfig CLOSED --listen nowhere`, 2, /--listen.*HOST:PORT/],
  [`dns serve --kubeconfig NOWHERE --dns-listen 127.0.0.1:0`, 1, /no kubeconfig at/],
  [`dns serve --kubeconfig CLOSED --dns-listen nowhere`, 2, /--dns-listen.*HOST:PORT/],
  [`dns serve --kubeconfig CLOSED --dns-listen 127.0.0.1:0 --state-dir FILE`, 1, /FILE/],
  [`notifications test`, 2, /--notify-url/],
  [`notifications test --notify-url ftp://a`, 2, /--notify-url/],
  [`notifications test --notify-url HOOK/ill`, 1, /not delivered.*500.*check the URL/],
  [`notifications test --notify-url http://127.0.0.1:1/`, 1, /not delivered.*check the URL/],
  [`notifications test --notify-url HOOK/well --notify-template FILE`, 2, /--notify-template/],
  [`notifications test --notify-url HOOK/well --notify-format smoke`, 2, /--notify-format.*slack/],
  [`certs renew --data-dir NOWHERE`, 1, /no control plane in .*--data-dir/],
  [`certs renew --data-dir EMPTY`, 1, /no control plane in .*--data-dir/],
  [`certs rotate-ca --data-dir EMPTY`, 2, /--prepare, --commit or --finish/],
  [`certs rotate-ca --prepare --data-dir EMPTY`, 1, /no control plane in .*--data-dir/],
  [`certs rotate-ca --finish --data-dir FILE`, 1, /no control plane in .*--data-dir/],
  [`backup OUT --data-dir NOWHERE`, 1, /no control plane in .*--data-dir/],
  [`backup OUT --data-dir EMPTY`, 1, /no control plane in EMPTY.*--data-dir/],
  [`restore NOWHERE --data-dir EMPTY`, 1, /there is no NOWHERE.*lifeboat backup/],
  [`restore FILE --data-dir EMPTY`, 1, /FILE/],
  [`migrate`, 2, /--from is needed/],
  [`migrate --from EMPTY`, 2, /--to is needed/],
  [`migrate --from NOWHERE --to CLOSED`, 1, /there is no NOWHERE.*lifeboat backup/],
  [`migrate --from EMPTY --to NOWHERE`, 1, /no kubeconfig at .*--to/],
  [`migrate --from FILE --to CLOSED`, 1, /FILE/],
];

const names = (): Readonly<Record<string, string>> => ({
  FILE: file,
  EMPTY: empty,
  OUT: join(directory, "out", "backup"),
  CLOSED: plane,
  TAKEN: taken,
  HOOK: hook,
  NOWHERE,
});

function argsOf(call: string): readonly string[] {
  const known = names();
  return call.split(" ").map((word) => word.replace(/^[A-Z]+/, (name) => known[name] ?? name));
}

/** With the names of this run in place of its paths. */
function plain(sentence: string): string {
  let text = sentence;
  for (const [name, value] of Object.entries(names())) text = text.replaceAll(value, name);
  return text;
}

describe("what is no call of a control plane", () => {
  it.each(CASES)("lifeboat %s", { timeout: 30_000 }, async (call, code, sentence) => {
    writeFileSync(plane, "");
    kubeconfig("http://127.0.0.1:1", plane);
    const ended = await run(...argsOf(call));
    expectSentence(ended, code);
    expect(plain(sentenceOf(ended))).toMatch(sentence);
  });

  it("leaves nothing in a directory that was named by mistake", async () => {
    await run("certs", "rotate-ca", "--prepare", "--data-dir", empty);
    await run("certs", "renew", "--data-dir", empty);
    expect(readdirSync(empty)).not.toContain("pki");
  });

  it("has every command that is not in the table of faults", () => {
    const tried = (name: string): boolean =>
      CASES.some(([call]) => call === name || call.startsWith(`${name} `));
    const here = Object.entries(elsewhere).filter(([, files]) =>
      files.some((one) => one.endsWith("error-paths-local.test.ts")),
    );
    expect(here.map(([name]) => name).filter((name) => !tried(name))).toEqual([]);
    expect(here.length).toBeGreaterThan(10);
  });
});

describe("the agent as a program of its own", () => {
  it.each(CASES.filter(([call]) => call.startsWith("agent")))(
    "lifeboat %s",
    async (call, code, sentence) => {
      kubeconfig("http://127.0.0.1:1", plane);
      const ended = await runBy(agentMain, ...argsOf(call));
      expectSentence(ended, code);
      expect(plain(sentenceOf(ended))).toMatch(sentence);
    },
  );
});
