/** Where the real Kubernetes binaries are. Tests that need them fail loudly where they cannot be had. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const installer = fileURLToPath(new URL("../../tools/real-kubernetes/install.sh", import.meta.url));

export type KubernetesBinary = "etcd" | "kube-apiserver" | "kube-controller-manager" | "kubectl";

const paths = new Map<KubernetesBinary, string>();

/** The path of one binary, built on first use (minutes) and cached outside the repository. */
export function kubernetesBinary(name: KubernetesBinary): string {
  const known = paths.get(name);
  if (known !== undefined) return known;
  const directory = execFileSync(installer, [name], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
  const path = `${directory}/${name}`;
  paths.set(name, path);
  return path;
}
