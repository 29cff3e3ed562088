/**
 * Keeps the API server from asking the webhook while objects are moved: they were admitted by the same rules before, and no manager
 * answers yet. A condition that never matches is added to every webhook, and taken off again; everything else of the configurations
 * stays, so that an interruption at any moment is repaired by repeating either.
 */
import { isRefused, keyOf, orNothing, Refused } from "@lifeboat/api";
import { type Clock, sleep } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";
import {
  mutatingConfigurations,
  validatingConfigurations,
  type Webhook,
  WEBHOOKS_NAME,
} from "../webhook/resources.ts";

const PAUSE = { name: "lifeboat.dev/not-while-moving", expression: "false" } as const;
const KEY = { namespace: "", name: WEBHOOKS_NAME };

/** With true nothing is asked from a moment after it resolves; with false everything is asked again. */
export async function pauseWebhooks(client: Client, isPaused: boolean): Promise<void> {
  for (const resource of [mutatingConfigurations, validatingConfigurations])
    for (;;) {
      const found = await orNothing(client.get(resource, KEY));
      if (found?.webhooks === undefined) break;
      const webhooks = found.webhooks.map((webhook) => withPause(webhook, isPaused));
      if (webhooks.every((webhook, i) => webhook === found.webhooks?.[i])) break;
      try {
        await client.update(resource, { ...found, webhooks });
        break;
      } catch (error) {
        if (!isRefused(error, "Conflict")) throw error;
      }
    }
}

function withPause(webhook: Webhook, isPaused: boolean): Webhook {
  const present = (webhook["matchConditions"] ?? []) as readonly (typeof PAUSE)[];
  const others = present.filter(({ name }) => name !== PAUSE.name);
  if (others.length < present.length === isPaused) return webhook;
  const next = isPaused ? [...others, PAUSE] : others;
  const { matchConditions: _former, ...rest } = webhook;
  if (next.length === 0) return rest;
  return { ...rest, matchConditions: next };
}

/** An API server takes a moment to notice that it asks no webhook any more, and that a new kind is served. */
export async function patiently<T>(clock: Clock, what: string, send: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++)
    try {
      return await send();
    } catch (error) {
      if (!isSettling(error) || tries === MAX_TRIES) throw named(what, error);
      await sleep(clock, PAUSE_MS);
    }
}

const PAUSE_MS = 250;
const MAX_TRIES = 120;

function isSettling(error: unknown): boolean {
  if (!(error instanceof Refused)) return false;
  const { code, message = "" } = error.status;
  if (code === 429) return true;
  if (code === 500) return message.includes("failed calling webhook");
  return code === 404 && message.includes("could not find the requested resource");
}

/** A refusal names the object that it is about. */
function named(what: string, error: unknown): unknown {
  if (!(error instanceof Refused) || error.status.reason === "AlreadyExists") return error;
  return new Refused({ ...error.status, message: `${what}: ${error.status.message ?? ""}` });
}

/** `Deployment shop/web`. */
export function describe(object: {
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}): string {
  const { namespace, name } = keyOf(object);
  return `${object.kind} ${namespace === "" ? name : `${namespace}/${name}`}`;
}
