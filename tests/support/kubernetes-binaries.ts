/** Where the real Kubernetes binaries are. Tests that need them fail loudly where they cannot be had. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const installer = fileURLToPath(new URL("../../tools/real-kubernetes/install.sh", import.meta.url));

let directory: string | undefined;

/** The path of one binary, built on first use (minutes) and cached outside the repository. */
export function kubernetesBinary(name: "etcd" | "kube-apiserver" | "kubectl"): string {
  directory ??= execFileSync(installer, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
  return `${directory}/${name}`;
}
