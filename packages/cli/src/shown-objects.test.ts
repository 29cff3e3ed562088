/** Forms of `-o` on a control plane, and the page of `status` for a user without the right to all of it. */
import { configMaps } from "@lifeboat/api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kubeconfig, run } from "./error-paths.suite.ts";
import { type HostilePlane, openHostilePlane } from "./hostile-plane.suite.ts";
import { fillSmallWorld } from "./small-world.suite.ts";

let plane: HostilePlane;
beforeAll(async () => {
  plane = await openHostilePlane(fillSmallWorld);
});
afterAll(() => plane.close());

const told = async (...args: readonly string[]): Promise<string> => {
  const ended = await run(...args, "--kubeconfig", kubeconfig(plane.url));
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  return ended.stdout;
};

it("names", async () => {
  expect(await told("remedy", "list", "-o", "name")).toBe("remedy.remedy.karmada.io/names\n");
  expect(await told("token", "list", "-o", "name")).toBe("");
});

it("the rate, for programs", async () => {
  expect(JSON.parse(await told("evacuations", "rate", "-o", "json"))).toEqual({
    perSecond: 0.5,
    reason: "FleetHealthy",
    failed: 0,
    counted: 2,
    failedShare: 0,
  });
});

it("the page does not end where the notices may not be read", async () => {
  const { plane: client } = plane.fleet;
  const key = { namespace: "lifeboat-system", name: "settings" };
  await client.patch(configMaps, key, { type: "merge", body: { data: { notify: "hook" } } });
  await plane.behave();
  expect(await told("status")).toContain("Notices   hook; nothing was sent yet");
  const requests = plane.requests.length;
  const pages: string[] = [];
  for (let at = 1; at < requests; at++) {
    await plane.fail(at, "forbidden", true);
    const { stdout } = await run("status", "--kubeconfig", kubeconfig(plane.url));
    pages.push(stdout);
  }
  await plane.behave();
  // One refusal at a time: a page comes each time, and one of them is without the notices.
  for (const page of pages) expect(page).toMatch(/^[A-Z]+: /);
  const without = pages.filter((page) => /^Notices {3}not known: you may not read it$/m.test(page));
  expect(without).toHaveLength(1);
});
