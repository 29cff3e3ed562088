/** Makes a kubeconfig for another user of the same control plane, with that user's certificate. */
import { readFile } from "node:fs/promises";
import { kubeconfigText, loadKubeconfig } from "@lifeboat/kit/adapters";
import { CommandFailed } from "./failure.ts";
import { planePaths } from "./find-plane.ts";
import type { Settings } from "./settings.ts";

/** The kubeconfig of the caller, with this certificate in place of the caller's, and another address where one is given. */
export async function kubeconfigFor(
  settings: Settings,
  client: { readonly certificate: string; readonly key: string },
  server?: string,
): Promise<string> {
  const context = settings.text("context");
  const { cluster } = await loadKubeconfig({
    paths: planePaths(settings, process.env),
    ...(context === undefined ? {} : { context }),
  });
  const authority = cluster.certificateAuthority;
  if (authority === undefined)
    throw new CommandFailed("the kubeconfig of the control plane names no certificate authority");
  const ca =
    authority.kind === "data"
      ? Buffer.from(authority.base64, "base64").toString("utf8")
      : await readFile(authority.path, "utf8");
  return kubeconfigText({ name: "lifeboat", server: server ?? cluster.server, ca, client });
}
