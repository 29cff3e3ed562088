/**
 * Asks for a name as a pod does: name servers, search list and options of resolv.conf, read at every detection, because the file may
 * change. It answers whether a name server gave an address (NOERROR with A or AAAA).
 *
 * 1. The names are asked for in order, and for each the name servers in order. An answer without an address (NXDOMAIN, no data) is an
 *    answer: the next name follows. A server that fails, refuses or is silent is followed by the next one.
 * 2. Each server gets its share of the time, and one that gave no answer is asked last for the names that follow, so that a silent one
 *    leaves time for the others.
 */
import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { namesToAsk, parseResolvConf } from "@lifeboat/core/remedy/detector";

export interface ResolveNameOptions {
  readonly name: string;
  readonly resolvConf: string;
  /** How long one detection may take. */
  readonly timeoutMs: number;
}

/** A probe that resolves a name. */
export function resolveNameProbe({ name, resolvConf, timeoutMs }: ResolveNameOptions) {
  return async (signal: AbortSignal): Promise<boolean> => {
    const settings = parseResolvConf(await readFile(resolvConf, "utf8"));
    const share = Math.floor(timeoutMs / (settings.servers.length + 1));
    const timeout = Math.max(1, Math.min(settings.timeoutMs, share));
    const servers = [...settings.servers];
    for (const asked of namesToAsk(name, settings)) {
      const answer = await ask(asked, servers, timeout, signal);
      if (answer !== "none") return answer === "address";
    }
    return false;
  };
}

type Answer = "address" | "none" | "silence";

/** Asks the servers in order; those that gave no answer go to the end of the list. */
async function ask(
  name: string,
  servers: string[],
  timeout: number,
  signal: AbortSignal,
): Promise<Answer> {
  const order = [...servers];
  for (const server of order) {
    if (signal.aborted) return "silence";
    const resolver = resolverOf(server, timeout);
    if (resolver === undefined) continue;
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    const answers = await Promise.all([
      answerOf(resolver.resolve4(name)),
      answerOf(resolver.resolve6(name)),
    ]);
    signal.removeEventListener("abort", cancel);
    if (answers.includes("address")) return "address";
    if (answers.includes("none")) return "none";
    servers.push(...servers.splice(servers.indexOf(server), 1));
  }
  return "silence";
}

/** undefined: the text is no address, and is passed over. */
function resolverOf(server: string, timeout: number): Resolver | undefined {
  const resolver = new Resolver({ timeout, tries: 1 });
  try {
    resolver.setServers([server]);
    return resolver;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_INVALID_IP_ADDRESS") return undefined;
    throw error;
  }
}

/** These are answers of a server that works: there is no such name, or no such address of it. */
const NEGATIVE: readonly string[] = ["ENOTFOUND", "ENODATA"];

async function answerOf(addresses: Promise<readonly string[]>): Promise<Answer> {
  try {
    return (await addresses).length > 0 ? "address" : "none";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== undefined && NEGATIVE.includes(code) ? "none" : "silence";
  }
}
