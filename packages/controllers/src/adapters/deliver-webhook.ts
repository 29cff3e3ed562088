/**
 * Delivers notices: one POST of JSON to a webhook. A redirection is not followed, and of the answer only the beginning is read.
 *
 * Nothing that it answers or reports holds the URL: of webhooks such as Slack's the path is a secret.
 */
import { request as plain } from "node:http";
import { request as encrypted } from "node:https";
import type { Answer } from "@lifeboat/core/notifications";

export interface Webhook {
  readonly url: URL;
  /** Sent as `Authorization: Bearer …`; read again for each notice, because tokens are renewed. */
  readonly token?: () => string;
  readonly userAgent: string;
}

const MAX_ANSWER = 1024;

export function deliverToWebhook({ url, token, userAgent }: Webhook) {
  return (body: string, id: string, signal: AbortSignal): Promise<Answer> =>
    new Promise((resolve) => {
      const fail = (error: Error): void => {
        resolve({ kind: "failed", message: withoutUrl(error.message, url) });
      };
      let bearer: string | undefined;
      try {
        bearer = token?.();
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      const headers = {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "user-agent": userAgent,
        "idempotency-key": id,
        connection: "close",
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      };
      const options = { method: "POST", headers, agent: false, signal } as const;
      const request = url.protocol === "https:" ? encrypted(url, options) : plain(url, options);
      request.once("response", (response) => {
        const { statusCode: code = 0, headers: answered } = response;
        const wait = retryAfterMs(answered["retry-after"]);
        let text = "";
        const end = (): void => {
          resolve({
            kind: "answered",
            code,
            text: withoutUrl(plainText(text), url),
            ...(wait === undefined ? {} : { retryAfterMs: wait }),
          });
          request.destroy();
        };
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (text.length >= MAX_ANSWER) end();
        });
        response.once("end", end);
        // The code is there: what is missing are words.
        response.once("error", end);
      });
      request.on("error", fail);
      request.once("close", () => fail(new Error("the connection was closed without an answer")));
      request.end(body);
    });
}

/** Seconds; a date is not read, and the usual pause follows. */
function retryAfterMs(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
}

const MAX_WORDS = 200;

/** What a receiver sends must not reach terminals as it is. */
function plainText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- finding them is the purpose
  const shown = text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return shown.trim().slice(0, MAX_WORDS);
}

function withoutUrl(text: string, { href, pathname, search }: URL): string {
  const secret = pathname === "/" ? search : `${pathname}${search}`;
  const shown = text.replaceAll(href, "the webhook");
  return secret === "" ? shown : shown.replaceAll(secret, "/…");
}
