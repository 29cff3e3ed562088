/** Clusters that register by the code of `lifeboat token create` and `lifeboat register`, in the process of a test. */
import { join } from "node:path";
import { addMs } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import type { Client } from "@lifeboat/kit";
import { obtainIdentity } from "../../packages/cli/src/commands/register.ts";
import { makeToken, wayIn } from "../../packages/cli/src/commands/token.ts";

const TOKEN_MS = 10 * 60_000;
const APPROVAL_MS = 120_000;

/** A token for any cluster. */
export function newToken(admin: Client): Promise<string> {
  return makeToken(admin, addMs(createRealClock().now(), TOKEN_MS), undefined, undefined);
}

/** Registers: discovery, pin, token, request, certificate. Answers the file of the agent's kubeconfig. */
export async function registerCluster(
  admin: Client,
  url: string,
  cluster: string,
  directory: string,
  token?: string,
): Promise<string> {
  const { pin } = await wayIn(admin);
  const file = join(directory, `${cluster}.kubeconfig`);
  await obtainIdentity({
    server: url,
    token: token ?? (await newToken(admin)),
    pins: [pin],
    cluster,
    file,
    timeoutMs: APPROVAL_MS,
    check: false,
    onStep: () => undefined,
  });
  return file;
}
