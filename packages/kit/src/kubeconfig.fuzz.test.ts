/** Whatever stands in a kubeconfig, reading it ends in a configuration or in a KubeconfigError, soon. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import {
  type ExecPlugin,
  KubeconfigError,
  parseExecCredential,
  parseKubeconfig,
  resolveAccess,
} from "./kubeconfig.ts";

const field = fc.constantFrom(
  "clusters",
  "users",
  "contexts",
  "current-context",
  "name",
  "cluster",
  "user",
  "context",
  "server",
  "exec",
  "env",
  "args",
  "command",
  "apiVersion",
  "token",
  "tokenFile",
  "client-certificate",
  "client-key-data",
  "insecure-skip-tls-verify",
  "proxy-url",
  "as",
  "as-groups",
  "as-user-extra",
  "__proto__",
);
const leaf = fc.oneof(
  fc.string(),
  fc.constantFrom<unknown>("a", "https://x", "client.authentication.k8s.io/v1", true, null, 7),
);
const { document } = fc.letrec<{ document: unknown }>((tie) => ({
  document: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.array(tie("document"), { maxLength: 3 }),
    fc.dictionary(field, tie("document"), { maxKeys: 6 }),
  ),
}));

function onlyKubeconfigErrors(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(KubeconfigError);
  }
}

test("documents of the right words in wrong places", () => {
  fc.assert(
    fc.property(document, (value) => {
      const text = stringify(value);
      onlyKubeconfigErrors(() => resolveAccess(parseKubeconfig(text, "/d", "config")));
    }),
    { numRuns: 20_000 },
  );
});

test("arbitrary text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      onlyKubeconfigErrors(() => parseKubeconfig(text, "/d", "config"));
    }),
    { numRuns: 40_000 },
  );
});

test("answers of credential plugins", () => {
  const plugin: ExecPlugin = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "p",
    args: [],
    env: {},
    provideClusterInfo: false,
  };
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      onlyKubeconfigErrors(() => parseExecCredential(text, plugin));
    }),
    { numRuns: 20_000 },
  );
});
