/**
 * A probe that sends one GET: a status from 200 to 399 is success. A redirection is not followed, and the body is not read: the server
 * has answered by then.
 *
 * Each detection is a connection of its own, because one that is kept open would hide that no new one can be made.
 */
import { request as plain } from "node:http";
import { request as encrypted } from "node:https";
import { isHealthyStatus } from "@lifeboat/core/remedy/detector";

export interface HttpTarget {
  readonly url: URL;
  /** Whether any certificate of the server will do, as it does for a kubelet. */
  readonly skipTlsVerify: boolean;
}

export function httpProbe({ url, skipTlsVerify }: HttpTarget) {
  return (signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const headers = { "user-agent": "lifeboat-detector", accept: "*/*", connection: "close" };
      const options = { method: "GET", headers, agent: false, signal } as const;
      const request =
        url.protocol === "https:"
          ? encrypted(url, { ...options, rejectUnauthorized: !skipTlsVerify })
          : plain(url, options);
      request.once("response", (response) => {
        resolve(isHealthyStatus(response.statusCode));
        request.destroy();
      });
      // The signal, a refusal, an answer that is no HTTP, and what comes after the answer.
      request.on("error", () => resolve(false));
      // An answer that ends without a status, such as a change of the protocol.
      request.once("close", () => resolve(false));
      request.end();
    });
}
