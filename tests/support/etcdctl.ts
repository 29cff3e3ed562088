/** Where the real etcdctl is. Tests that need it fail loudly where it cannot be had. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const installer = fileURLToPath(new URL("../../tools/etcdctl/install.sh", import.meta.url));

/** The path of the binary, built on first use and cached outside the repository. */
export function etcdctlBinary(): string {
  const stdio = ["ignore", "pipe", "inherit"] as const;
  return execFileSync(installer, { encoding: "utf8", stdio: [...stdio] }).trim();
}
