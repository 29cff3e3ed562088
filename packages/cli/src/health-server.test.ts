import { afterEach, expect, it } from "vitest";
import { type HealthServer, serveHealth } from "./health-server.ts";

let server: HealthServer;
afterEach(() => server.close());

async function ask(path: string, method = "GET"): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  return `${response.status} ${(await response.text()).trim()}`;
}

it("tells that the process lives, why it does not serve, and what it counted", async () => {
  let why: string | undefined = "not yet";
  const checks = { readiness: () => why, metrics: () => Promise.resolve("a 1") };
  server = await serveHealth(checks, { host: "127.0.0.1", port: 0 });
  expect(await ask("/livez")).toBe("200 ok");
  expect(await ask("/readyz")).toBe("503 not yet");
  why = undefined;
  expect(await ask("/readyz?verbose")).toBe("200 ok");
  expect(await ask("/metrics")).toBe("200 a 1");
  expect(await ask("/else")).toContain("404");
  expect(await ask("/livez", "POST")).toContain("405");
});

it("tells of metrics that fail, and goes on", async () => {
  const checks = { readiness: () => undefined, metrics: () => Promise.reject(new Error("broken")) };
  server = await serveHealth(checks, { host: "127.0.0.1", port: 0 });
  expect(await ask("/metrics")).toBe("500 Error: broken");
  expect(await ask("/livez")).toBe("200 ok");
});
