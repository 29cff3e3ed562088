/** Which address is really dialled: literal, resolved, resolved to something else the next time, through a proxy. */
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { judgeAddressBy } from "../dialled-addresses.ts";
import { AgentPool } from "./http-pool.ts";
import { connectThrough, httpProxyOf } from "./http-proxy.ts";
import { AddressRefused, judgedLookup } from "./judged-dial.ts";

const judge = judgeAddressBy({ allowsLoopback: false });
const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

async function startServer(): Promise<{ readonly port: number; readonly count: () => number }> {
  let connections = 0;
  const server = http.createServer((_request, response) => response.end("reached"));
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closings.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, count: () => connections };
}

function ask(url: string, config: object): Promise<string> {
  const pool = new AgentPool({ server: url, ...config }, 1);
  closings.push(() => pool.close());
  const { agent } = pool.lease({ headers: {} });
  return new Promise((resolve, reject) => {
    const request = http.request(new URL(url), { agent }, (response) => {
      response.resume();
      resolve(String(response.statusCode));
    });
    request.on("error", reject);
    request.end();
  });
}

describe("a connection for a member", () => {
  it.each(["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0"])(
    "to %s is refused before a byte is sent",
    async (host) => {
      const { port, count } = await startServer();
      const asked = ask(`http://${host}:${port}/`, { judgeAddress: judge });
      await expect(asked).rejects.toThrow(/is not dialled: it is a loopback address/);
      expect(count()).toBe(0);
    },
  );

  it.each(["127.0.0.1", "localhost"])("to %s is made where loopback is allowed", async (host) => {
    const { port } = await startServer();
    const judgeAddress = judgeAddressBy({ allowsLoopback: true });
    expect(await ask(`http://${host}:${port}/`, { judgeAddress })).toBe("200");
  });

  it("through a proxy on a refused address is refused too", async () => {
    const { port, count } = await startServer();
    for (const host of ["127.0.0.1", "localhost"]) {
      const proxy = httpProxyOf(`http://${host}:${port}`);
      await expect(connectThrough(proxy, "example.org", 443, judge)).rejects.toThrow(/not dialled/);
    }
    expect(count()).toBe(0);
  });
});

describe("a name", () => {
  const lookup = (answers: readonly string[][]) => {
    let asked = 0;
    return judgedLookup(judge, (_name, _options, callback) => {
      const addresses = answers[asked++] ?? [];
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    });
  };
  const resolved = (look: ReturnType<typeof lookup>, all: boolean) =>
    new Promise<unknown>((resolve, reject) =>
      look("rebinding.example", { all }, (error, address, family) =>
        error === null ? resolve(all ? address : [address, family]) : reject(error),
      ),
    );

  it("that resolves to something else the second time is judged the second time", async () => {
    const look = lookup([["10.0.0.1"], ["169.254.169.254"]]);
    expect(await resolved(look, false)).toEqual(["10.0.0.1", 4]);
    await expect(resolved(look, false)).rejects.toThrow(AddressRefused);
  });

  it("leads only to those of its addresses that may be dialled", async () => {
    const look = lookup([["127.0.0.1", "10.0.0.1", "fe80::1", "2001:db8::1"]]);
    expect(await resolved(look, true)).toEqual([
      { address: "10.0.0.1", family: 4 },
      { address: "2001:db8::1", family: 6 },
    ]);
  });

  it("without an address is refused", async () => {
    await expect(resolved(lookup([[]]), true)).rejects.toThrow(/rebinding.example does not exist/);
  });
});
