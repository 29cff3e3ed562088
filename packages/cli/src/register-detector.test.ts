/** A detector reaches the control plane while its cluster resolves no names, if it was given addresses. */
import { type AnyObject, type New } from "@lifeboat/api";
import { valueAt } from "@lifeboat/core";
import { detectorManifest } from "@lifeboat/plane";
import { describe, expect, it, test } from "vitest";
import { registerOptions } from "./commands/register.ts";
import { resolveOptions } from "./options.ts";
import { kubeconfigText } from "@lifeboat/kit/adapters";
import { askedAddresses, hostNameIn } from "./register-detector.ts";
import { Settings } from "./settings.ts";

const given = (flags: Record<string, string>) =>
  new Settings(resolveOptions(registerOptions, { flags, environment: {}, file: {} }));

test.each([
  ["https://plane.example.com:7443", "plane.example.com"],
  ["https://192.0.2.10:7443", undefined],
  ["https://[2001:db8::1]:7443", undefined],
])("the host name of %s is %s", (server, host) => {
  const client = { certificate: "c", key: "k" };
  expect(hostNameIn(kubeconfigText({ name: "lifeboat", server, ca: "ca", client }))).toBe(host);
});

test("addresses are read one by one, and what is no address is refused", () => {
  const flags = { "server-addresses": "192.0.2.10, 2001:db8::1" };
  expect(askedAddresses(given(flags))).toEqual(["192.0.2.10", "2001:db8::1"]);
  expect(askedAddresses(given({}))).toEqual([]);
  expect(() => askedAddresses(given({ "server-addresses": "plane.example.com" }))).toThrow(
    '"plane.example.com" is no IP address',
  );
});

describe("the manifest", () => {
  const aliasesIn = (server?: { readonly host: string; readonly addresses: readonly string[] }) => {
    const objects: readonly New<AnyObject>[] = detectorManifest({
      cluster: "eu-1",
      image: "lifeboat",
      namespace: "karmada-system",
      kubeconfig: "k",
      condition: "ServiceDomainNameResolutionReady",
      probeFlags: [],
      ...(server !== undefined && { server }),
    });
    return valueAt(
      objects.find(({ kind }) => kind === "DaemonSet"),
      "spec",
      "template",
      "spec",
      "hostAliases",
    );
  };

  it("knows the addresses that were given beside the cluster's name servers, and none otherwise", () => {
    expect(
      aliasesIn({ host: "plane.example.com", addresses: ["192.0.2.10", "192.0.2.11"] }),
    ).toEqual([
      { ip: "192.0.2.10", hostnames: ["plane.example.com"] },
      { ip: "192.0.2.11", hostnames: ["plane.example.com"] },
    ]);
    expect(aliasesIn()).toBeUndefined();
  });
});
