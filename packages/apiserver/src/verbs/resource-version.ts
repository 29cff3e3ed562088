/** Reading the resourceVersion of a request, and waiting for the server to get there. */
import { badRequest } from "@lifeboat/api";
import type { VerbDeps } from "./deps.ts";
import { serverError, versionTooLarge } from "./refusals.ts";

const WAIT_MS = 3000;

/** The number in a resourceVersion; undefined when it is not one. "" is 0. */
export function parseVersion(text: string): number | undefined {
  if (text === "") return 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return undefined;
  }
  const version = Number(text);
  return Number.isSafeInteger(version) ? version : undefined;
}

/** As lists refuse what is no version. */
export function listVersion(text: string): number {
  const version = parseVersion(text);
  if (version !== undefined) return version;
  throw badRequest(`invalid resource version: ${notAVersion(text)}`);
}

/** As watches and reads of one object refuse it: with another code and no reason. */
export function plainVersion(text: string): number {
  const version = parseVersion(text);
  if (version !== undefined) return version;
  throw serverError(notAVersion(text));
}

function notAVersion(text: string): string {
  const shown = JSON.stringify(text);
  return `resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`;
}

/** Waits a little until the server has seen this version, else refuses with 504. */
export async function waitForVersion(
  deps: VerbDeps,
  version: number,
  signal?: AbortSignal,
): Promise<void> {
  const { store } = deps;
  if (store.revision < version && signal?.aborted !== true) await reached(deps, version, signal);
  if (store.revision < version) throw versionTooLarge(version, store.revision);
}

/** Resolves when the server has seen this version, when that takes too long, or when no request waits any more. */
function reached({ clock, store }: VerbDeps, version: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancelTimer();
      cancelWaiting();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancelTimer = clock.after(WAIT_MS, end);
    const cancelWaiting = store.whenReached(version, end);
    signal?.addEventListener("abort", end);
  });
}
