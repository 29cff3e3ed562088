/** Kubeconfigs with one context, everything embedded, in files that only their owner can read and that are replaced whole. */
import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

export interface KubeconfigEntry {
  /** The name of the cluster, the user and the context. */
  readonly name: string;
  /** `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM; several one after the other. */
  readonly ca: string;
  /** PEM. */
  readonly client: { readonly certificate: string; readonly key: string };
  /** The proxy through which the server is reached; absent: directly. */
  readonly proxyUrl?: string | undefined;
}

/** The text of a kubeconfig with one context, everything embedded. */
export function kubeconfigText(entry: KubeconfigEntry): string {
  const name = JSON.stringify(entry.name);
  return `apiVersion: v1
kind: Config
clusters:
- name: ${name}
  cluster:
    server: ${JSON.stringify(entry.server)}
    certificate-authority-data: ${base64(entry.ca)}
${entry.proxyUrl === undefined ? "" : `    proxy-url: ${JSON.stringify(entry.proxyUrl)}\n`}users:
- name: ${name}
  user:
    client-certificate-data: ${base64(entry.client.certificate)}
    client-key-data: ${base64(entry.client.key)}
contexts:
- name: ${name}
  context:
    cluster: ${name}
    user: ${name}
current-context: ${name}
preferences: {}
`;
}

/** Writes a kubeconfig that only its owner can read. */
export function writeKubeconfig(path: string, entry: KubeconfigEntry): Promise<void> {
  return writePrivateFile(path, kubeconfigText(entry));
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** Replaces a file whole; only its owner can read it. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
