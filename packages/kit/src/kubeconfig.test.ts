import { expect, test } from "vitest";
import {
  execInfo,
  type ExecPlugin,
  inClusterAccess,
  KubeconfigError,
  mergeKubeconfigs,
  parseExecCredential,
  parseKubeconfig,
  resolveAccess,
} from "./kubeconfig.ts";

const FULL = `
apiVersion: v1
kind: Config
current-context: one
clusters:
- name: c1
  cluster: {server: "https://10.0.0.1:6443", certificate-authority: pki/ca.crt, tls-server-name: api.internal}
- name: c2
  cluster: {server: "https://10.0.0.2:6443", insecure-skip-tls-verify: true}
users:
- name: certs
  user: {client-certificate-data: Q0VSVA==, client-key: /keys/admin.key}
- name: files
  user: {tokenFile: tokens/t1}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: get-token
      args: [--cluster, c2]
      env: [{name: REGION, value: eu}]
      provideClusterInfo: true
      interactiveMode: IfAvailable
- name: somebody
  user: {username: ann, password: "12345", as: bob, as-groups: [dev]}
contexts:
- name: one
  context: {cluster: c1, user: certs, namespace: apps}
- name: two
  context: {cluster: c2, user: plugin}
- name: three
  context: {cluster: c2, user: somebody}
- name: broken
  context: {cluster: nowhere, user: certs}
- name: nobody
  context: {cluster: c2, user: ghost}
`;

const full = parseKubeconfig(FULL, "/etc/lifeboat", "config");

test("the current context gives cluster, user and namespace; relative paths start at the file", () => {
  expect(resolveAccess(full)).toEqual({
    cluster: {
      server: "https://10.0.0.1:6443",
      certificateAuthority: { kind: "file", path: "/etc/lifeboat/pki/ca.crt" },
      insecureSkipTlsVerify: false,
      tlsServerName: "api.internal",
    },
    user: {
      clientCertificate: { kind: "data", base64: "Q0VSVA==" },
      clientKey: { kind: "file", path: "/keys/admin.key" },
    },
    namespace: "apps",
    context: "one",
  });
});

test("another context can be named", () => {
  expect(resolveAccess(full, "two").user.exec).toMatchObject({
    command: "get-token",
    args: ["--cluster", "c2"],
    env: { REGION: "eu" },
    provideClusterInfo: true,
  });
  expect(resolveAccess(full, "three").user).toMatchObject({
    basic: { username: "ann", password: "12345" },
    impersonate: { user: "bob", groups: ["dev"] },
  });
});

test.each([
  { context: "four", want: 'no context "four"; it has: one, two' },
  { context: "broken", want: 'names the cluster "nowhere"' },
  { context: "nobody", want: 'names the user "ghost"' },
])("context $context is refused: $want", ({ context, want }) => {
  expect(() => resolveAccess(full, context)).toThrow(want);
});

test.each([
  { name: "not YAML", text: "{", want: "is not YAML" },
  { name: "a list", text: "[]", want: "config is not a mapping" },
  { name: "a scalar", text: "hello", want: "config is not a mapping" },
  { name: "clusters as text", text: "clusters: x", want: "config.clusters is not a list" },
  {
    name: "an entry without name",
    text: "users: [{user: {}}]",
    want: "config.users[0] has no name",
  },
  {
    name: "a server that is no URL",
    text: "clusters: [{name: a, cluster: {server: '10.0.0.1'}}]",
    want: "is not an http or https URL",
  },
  {
    name: "a server by file URL",
    text: "clusters: [{name: a, cluster: {server: 'file:///etc'}}]",
    want: "is not an http or https URL",
  },
  {
    name: "a proxy",
    text: "clusters: [{name: a, cluster: {server: 'https://x', proxy-url: 'socks5://p'}}]",
    want: "proxy-url is not an http or https URL",
  },
  {
    name: "a proxy that could read the credential",
    text: "clusters: [{name: a, cluster: {server: 'http://x', proxy-url: 'http://p'}}]",
    want: "the proxy could read the credential",
  },
  {
    name: "insecure with an authority",
    text: "clusters: [{name: a, cluster: {server: 'https://x', insecure-skip-tls-verify: true, certificate-authority-data: eA==}}]",
    want: "remove one",
  },
  {
    name: "a certificate without key",
    text: "users: [{name: a, user: {client-certificate: x}}]",
    want: "certificate without key",
  },
  {
    name: "an old plugin version",
    text: "users: [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}}]",
    want: "is not supported",
  },
  {
    name: "a plugin that needs a terminal",
    text: "users: [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}}}]",
    want: "no terminal",
  },
  {
    name: "an auth provider",
    text: "users: [{name: a, user: {auth-provider: {name: gcp}}}]",
    want: "use an exec plugin",
  },
])("$name is refused with a sentence", ({ text, want }) => {
  expect(() => parseKubeconfig(text, "/d", "config")).toThrow(want);
});

test("an empty file has no context", () => {
  const empty = parseKubeconfig("", "", "config");
  expect(() => resolveAccess(empty)).toThrow("no current-context");
});

test("a billion laughs do not expand", () => {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 12; i++)
    lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(", ")}]`);
  expect(() => parseKubeconfig(lines.join("\n"), "", "config")).toThrow(KubeconfigError);
});

test("of several files the first that names a thing wins", () => {
  const first = parseKubeconfig(
    "contexts: [{name: one, context: {cluster: c2, user: certs}}]",
    "",
    "first",
  );
  const merged = mergeKubeconfigs([first, full]);
  expect(merged.currentContext).toBe("one");
  expect(resolveAccess(merged).cluster.server).toBe("https://10.0.0.2:6443");
});

test("a pod finds its server in its environment, also by IPv6", () => {
  expect(inClusterAccess({})).toBeUndefined();
  const access = inClusterAccess({
    KUBERNETES_SERVICE_HOST: "fd00::1",
    KUBERNETES_SERVICE_PORT: "443",
  });
  expect(access?.cluster.server).toBe("https://[fd00::1]:443");
  expect(access?.user.tokenFile).toContain("serviceaccount/token");
});

const plugin: ExecPlugin = {
  apiVersion: "client.authentication.k8s.io/v1",
  command: "get-token",
  args: [],
  env: {},
  provideClusterInfo: true,
};

test("a plugin's answer is read", () => {
  const answer = {
    kind: "ExecCredential",
    apiVersion: plugin.apiVersion,
    status: { token: "t", expirationTimestamp: "2030-01-01T00:00:00Z" },
  };
  expect(parseExecCredential(JSON.stringify(answer), plugin)).toEqual({
    token: "t",
    expirationTimestamp: "2030-01-01T00:00:00Z",
  });
});

test.each([
  { text: "token", want: "is not JSON" },
  { text: "{}", want: "is not an ExecCredential" },
  {
    text: '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"}',
    want: "but the kubeconfig names",
  },
  {
    text: `{"kind":"ExecCredential","apiVersion":"${plugin.apiVersion}","status":{}}`,
    want: "neither a token nor a certificate",
  },
  {
    text: `{"kind":"ExecCredential","apiVersion":"${plugin.apiVersion}","status":{"clientKeyData":"k"}}`,
    want: "without key",
  },
])("a plugin's answer is refused: $want", ({ text, want }) => {
  expect(() => parseExecCredential(text, plugin)).toThrow(want);
});

test("a plugin that asks for it is given the cluster", () => {
  const cluster = { server: "https://x", insecureSkipTlsVerify: false };
  expect(JSON.parse(execInfo(plugin, cluster, "Q0E="))).toMatchObject({
    spec: {
      interactive: false,
      cluster: { server: "https://x", "certificate-authority-data": "Q0E=" },
    },
  });
  expect(JSON.parse(execInfo({ ...plugin, provideClusterInfo: false }, cluster, ""))).toMatchObject(
    {
      spec: { interactive: false },
    },
  );
});
