import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { UsageError } from "../failure.ts";
import { resolveOptions } from "../options.ts";
import { Settings } from "../settings.ts";
import { dnsFrom, dnsOptions, type DnsSettings } from "./dns-options.ts";

const directory = mkdtempSync(join(tmpdir(), "lifeboat-dns-options-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function read(flags: Readonly<Record<string, string>>): DnsSettings | undefined {
  return dnsFrom(new Settings(resolveOptions(dnsOptions, { flags, environment: {}, file: {} })));
}

const listen = { "dns-listen": "192.0.2.53:53" };

describe("the flags of the DNS server", () => {
  it("serve nothing unless they say where", () => {
    expect(read({})).toBeUndefined();
    expect(read({ "dns-zone": "example.com" })).toBeUndefined();
  });

  it("have defaults for everything else", () => {
    expect(read(listen)).toEqual({
      listen: { host: "192.0.2.53", port: 53 },
      zone: "cluster.local",
      federation: "lifeboat",
      ttl: 5,
      nameServers: [{ name: "ns.lifeboat.svc.cluster.local", addresses: ["192.0.2.53"] }],
      keys: [],
      secondaries: [],
      rateLimit: 1000,
    });
  });

  it("name servers, secondaries and keys", () => {
    const file = join(directory, "keys");
    const secret = Buffer.alloc(32, 7).toString("base64");
    writeFileSync(file, `# keys\nhmac-sha512:transfer:${secret}\n`);
    expect(
      read({
        ...listen,
        "dns-name-servers": "ns1.Example.com=192.0.2.1, ns2.example.com",
        "dns-secondaries": "192.0.2.7,[2001:db8::1]:5353",
        "dns-tsig-key-file": file,
      }),
    ).toMatchObject({
      nameServers: [
        { name: "ns1.example.com", addresses: ["192.0.2.1"] },
        { name: "ns2.example.com", addresses: [] },
      ],
      secondaries: [
        { host: "192.0.2.7", port: 53 },
        { host: "2001:db8::1", port: 5353 },
      ],
      keys: [{ algorithm: "hmac-sha512" }],
    });
  });

  const weak = join(directory, "weak");
  writeFileSync(weak, "hmac-sha256:transfer:AAAA\n");
  it.each([
    [{ "dns-zone": "exa mple" }],
    [{ "federation-name": "a.b" }],
    [{ "dns-name-servers": "ns1=nonsense" }],
    [{ "dns-secondaries": "name.example.com:53" }],
    [{ "dns-tsig-key-file": join(directory, "absent") }],
    [{ "dns-tsig-key-file": weak }],
    [{ "dns-listen": "nowhere" }],
  ])("%o is refused", (flags) => {
    expect(() => read({ ...listen, ...flags })).toThrow(UsageError);
  });
});
