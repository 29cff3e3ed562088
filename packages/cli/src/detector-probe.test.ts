/** The flags of a detector's probe: what they ask for, what is refused, and that a manifest asks for the same. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPki } from "@lifeboat/apiserver/adapters";
import { createRealClock } from "@lifeboat/base/adapters";
import { detectorManifest, detectorName } from "@lifeboat/plane";
import { describe, expect, it, test } from "vitest";
import { detectorOptions, optionsFrom } from "./commands/detector.ts";
import { registerOptions } from "./commands/register.ts";
import { askedProbe, probeFlags, probeFor } from "./detector-probe.ts";
import { resolveOptions } from "./options.ts";
import { Settings } from "./settings.ts";

const given = (flags: Record<string, string | boolean>, table = detectorOptions) =>
  new Settings(resolveOptions(table, { flags, environment: {}, file: {} }));
const TYPE = "detector.lifeboat.dev/IngressReady";

test.each([
  [{}, { probe: "dns", condition: "ServiceDomainNameResolutionReady", name: "kubernetes.default" }],
  [
    { name: "example.org.", "condition-type": TYPE },
    { probe: "dns", condition: TYPE, name: "example.org." },
  ],
  [
    { probe: "http", target: "http://shop.svc/healthz", "condition-type": TYPE },
    { probe: "http", condition: TYPE, target: "http://shop.svc/healthz" },
  ],
  [
    {
      probe: "http",
      target: "https://shop.svc",
      "target-insecure-skip-tls-verify": true,
      "condition-type": TYPE,
    },
    { probe: "http", condition: TYPE, skipTlsVerify: true },
  ],
  [
    { probe: "tcp", target: "[fd00::1]:5432", "condition-type": TYPE },
    { probe: "tcp", condition: TYPE, target: "[fd00::1]:5432" },
  ],
])("%j", (flags: Record<string, string | boolean>, expected) => {
  const asked = askedProbe(given(flags));
  expect(asked).toMatchObject(expected);
  // `register --detector` reads the same flags, and its manifest asks for the same again.
  expect(askedProbe(given(flags, registerOptions))).toEqual(asked);
  const again = Object.fromEntries(
    probeFlags(asked).map((flag) => {
      const [, name = "", value] = /^--([^=]+)(?:=(.*))?$/.exec(flag) ?? [];
      return [name, value ?? true];
    }),
  );
  expect(askedProbe(given(again))).toEqual(asked);
});

test.each([
  [{ probe: "icmp" }, /dns, http or tcp/],
  [{ target: "x:1" }, /give --name for dns/],
  [{ probe: "http", "condition-type": TYPE }, /needs --target, an http/],
  [{ probe: "http", target: "x:1", "condition-type": TYPE }, /needs --target, an http/],
  [{ probe: "http", target: "http://u:p@x", "condition-type": TYPE }, /without a user or password/],
  [{ probe: "tcp", target: "http://x", "condition-type": TYPE }, /HOST:PORT/],
  [{ probe: "tcp", target: "x:1" }, /needs --condition-type detector\.lifeboat\.dev\//],
  [{ probe: "tcp", target: "x:1", "condition-type": "Ready" }, /not a detector's to write/],
  [{ probe: "tcp", target: "x:1", "condition-type": "Fenced" }, /not a detector's to write/],
  [{ "condition-type": "IngressReady" }, /not a detector's to write/],
  [
    { probe: "tcp", target: "x:1", "condition-type": "ServiceDomainNameResolutionReady" },
    /by --probe dns alone/,
  ],
  [
    {
      probe: "http",
      target: "http://x",
      "condition-type": TYPE,
      "target-insecure-skip-tls-verify": true,
    },
    /needs an https/,
  ],
])("%j is refused", (flags: Record<string, string | boolean>, text) => {
  expect(() => optionsFrom(given({ "cluster-name": "eu-1", ...flags }))).toThrow(text);
});

describe("the manifest", () => {
  const made = (condition: string, flags: readonly string[]) =>
    detectorManifest({
      cluster: "eu-1",
      image: "i",
      namespace: "n",
      kubeconfig: "k",
      condition,
      probeFlags: flags,
    });
  const daemonSet = (objects: ReturnType<typeof made>) =>
    objects.find(({ kind }) => kind === "DaemonSet");

  it("has a DaemonSet of its own for every condition", () => {
    expect(detectorName("ServiceDomainNameResolutionReady")).toBe("lifeboat-detector");
    expect(detectorName(TYPE)).toBe("lifeboat-detector-ingress-ready");
    const names = ["Ab", "AB", "ABc", "AbC", "Abc"].map((name) =>
      detectorName(`detector.lifeboat.dev/${name}`),
    );
    expect(new Set(names).size).toBe(names.length);
    const flags = ["--probe=tcp", "--target=x:1", `--condition-type=${TYPE}`];
    const text = JSON.stringify(daemonSet(made(TYPE, flags)));
    for (const flag of flags) expect(text).toContain(JSON.stringify(flag));
    expect(text).toContain('"matchLabels":{"app":"lifeboat-detector-ingress-ready"}');
  });

  it("of name resolution has no flags of a probe", () => {
    const text = JSON.stringify(daemonSet(made("ServiceDomainNameResolutionReady", [])));
    expect(text).not.toMatch(/--probe|--target|--condition-type|--name=/);
  });
});

it("verifies the certificate of an https target, unless it may not", async () => {
  const directory = await mkdtemp(join(tmpdir(), "lifeboat-probe-"));
  const pki = await openPki(createRealClock(), directory);
  const { certificate, key } = await pki.server(["127.0.0.1"]);
  const server = createServer({ cert: certificate, key }, (_request, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const asked = {
    ...askedProbe(given({ probe: "http", target: "https://x", "condition-type": TYPE })),
    target: `https://127.0.0.1:${port}/`,
  };
  const ask = (skipTlsVerify: boolean): Promise<boolean> =>
    probeFor(
      { ...asked, skipTlsVerify },
      { resolvConf: "", periodMs: 1000 },
    )(AbortSignal.timeout(5000));
  expect([await ask(false), await ask(true)]).toEqual([false, true]);
  server.closeAllConnections();
  server.close();
  await rm(directory, { recursive: true });
});
