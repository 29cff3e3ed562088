/** The connection of a long-running process to an API server: by a kubeconfig that is read again when it changes, or as a pod. */
import type { Clock } from "@lifeboat/base";
import { type Access, KubeconfigError } from "@lifeboat/kit";
import {
  checkCertificates,
  createHttpClient,
  followAccess,
  type HttpClient,
  loadInCluster,
  loadKubeconfig,
} from "@lifeboat/kit/adapters";
import { CommandFailed } from "./failure.ts";
import type { Settings } from "./settings.ts";

/** Connects as `--kubeconfig` and `--context` say; nothing is sent yet. */
export async function connectToServer(
  { clock }: { readonly clock: Clock },
  settings: Settings,
  userAgent: string,
): Promise<HttpClient> {
  const path = settings.text("kubeconfig");
  const context = settings.text("context");
  const load = async (): Promise<Access> =>
    path === undefined
      ? loadInCluster(process.env)
      : loadKubeconfig({ paths: [path], ...(context === undefined ? {} : { context }) });
  try {
    const config = await followAccess({ clock, environment: process.env }, load, userAgent);
    await checkCertificates(config);
    return createHttpClient(config);
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new CommandFailed(
      `${error.message}; name the kubeconfig of the API server with --kubeconfig`,
    );
  }
}
