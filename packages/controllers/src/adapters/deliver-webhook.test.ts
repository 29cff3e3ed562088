/** One POST to a real server: what is sent, what is read, and that the URL stays a secret. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { deliverToWebhook } from "./deliver-webhook.ts";

let server: Server;
let url: URL;
let seen: { readonly request: IncomingMessage; readonly body: string }[];
let respond: (response: ServerResponse) => void;

beforeEach(async () => {
  seen = [];
  respond = (response) => response.end("ok");
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      seen.push({ request, body });
      respond(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0/secret`);
});
afterEach(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

const never = new AbortController().signal;
const deliver = (token?: () => string) =>
  deliverToWebhook({ url, userAgent: "lifeboat/test", ...(token && { token }) });

it("sends JSON with an id, and a token that is read each time", async () => {
  let token = "one";
  const send = deliver(() => token);
  expect(await send('{"a":"é"}', "history-7", never)).toEqual({
    kind: "answered",
    code: 200,
    text: "ok",
  });
  token = "two";
  await send("{}", "history-8", never);
  expect(seen[0]?.body).toBe('{"a":"é"}');
  expect(seen[0]?.request.headers).toMatchObject({
    "content-type": "application/json",
    "idempotency-key": "history-7",
    authorization: "Bearer one",
  });
  expect(seen[1]?.request.headers.authorization).toBe("Bearer two");
});

it("answers with the receiver's words, its pause, and no control characters", async () => {
  respond = (response) => {
    response.writeHead(429, { "retry-after": "30" }).end("slow\u001b[2J down");
  };
  expect(await deliver()("{}", "x", never)).toEqual({
    kind: "answered",
    code: 429,
    text: "slow [2J down",
    retryAfterMs: 30_000,
  });
});

it("reads only the beginning of an endless answer", async () => {
  respond = (response) => {
    response.writeHead(500);
    response.write("x".repeat(100_000));
  };
  const answer = await deliver()("{}", "x", never);
  expect(answer).toMatchObject({ kind: "answered", code: 500 });
  expect(JSON.stringify(answer).length).toBeLessThan(400);
});

it("does not follow a redirection, which could lead anywhere", async () => {
  respond = (response) => response.writeHead(302, { location: "/elsewhere" }).end();
  expect(await deliver()("{}", "x", never)).toMatchObject({ code: 302 });
  expect(seen).toHaveLength(1);
});

it("a connection that ends without an answer is a failure", async () => {
  respond = (response) => response.destroy();
  expect(await deliver()("{}", "x", never)).toMatchObject({ kind: "failed" });
});

it("the signal ends an attempt", async () => {
  const stop = new AbortController();
  respond = () => stop.abort();
  expect(await deliver()("{}", "x", stop.signal)).toMatchObject({ kind: "failed" });
});

it("a token that cannot be read is a failure of the attempt", async () => {
  const send = deliver(() => {
    throw new Error("no such file");
  });
  expect(await send("{}", "x", never)).toEqual({ kind: "failed", message: "no such file" });
});

it("no answer and no failure holds the path of the URL", async () => {
  respond = (response) =>
    response.writeHead(404).end(`no route for ${url.pathname} at ${url.href}`);
  const answered = await deliver()("{}", "x", never);
  const gone = deliverToWebhook({
    url: new URL("http://127.0.0.1:1/services/T0/secret"),
    userAgent: "t",
  });
  const failed = await gone("{}", "x", never);
  for (const answer of [answered, failed]) expect(JSON.stringify(answer)).not.toContain("secret");
  expect(failed).toMatchObject({ kind: "failed" });
});
