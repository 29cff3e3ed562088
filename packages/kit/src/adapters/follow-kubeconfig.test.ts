/** A kubeconfig that is replaced while a process runs is followed, in the minute or at once after a 401. */
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { beforeEach, expect, it } from "vitest";
import { type Access, KubeconfigError } from "../kubeconfig.ts";
import type { HttpClientConfig } from "./http-client.ts";
import { followAccess } from "./follow-kubeconfig.ts";

let clock: VirtualClock;
let access: Access | undefined;
let reads: number;
let config: HttpClientConfig;

const accessOf = (token: string, authority = "one", server = "https://a"): Access => ({
  cluster: {
    server,
    insecureSkipTlsVerify: false,
    certificateAuthority: { kind: "data", base64: btoa(authority) },
  },
  user: { token },
  namespace: "",
});

beforeEach(async () => {
  clock = new VirtualClock(instantOf(1_800_000_000_000), drainPromises);
  access = accessOf("t1");
  reads = 0;
  const load = (): Promise<Access> => {
    reads++;
    return access === undefined
      ? Promise.reject(new KubeconfigError("gone"))
      : Promise.resolve(access);
  };
  config = await followAccess({ clock, environment: {} }, load, "test");
});

const token = async (): Promise<unknown> =>
  (await config.credentials.current()).headers["authorization"];

it("is read once a minute, not at every call", async () => {
  for (let i = 0; i < 5; i++) await token();
  expect(reads).toBe(1);
  access = accessOf("t2");
  await clock.advance(59_000);
  expect(await token()).toBe("Bearer t1");
  await clock.advance(2000);
  expect(await token()).toBe("Bearer t2");
  expect(reads).toBe(2);
});

it("is read at once after a refusal, once for all that were refused", async () => {
  await token();
  access = accessOf("t2");
  const refreshed = [config.credentials.refresh(), config.credentials.refresh()];
  expect(await Promise.all(refreshed)).toContain(true);
  expect(reads).toBe(2);
  expect(await token()).toBe("Bearer t2");
});

it("brings a new authority of the server with it", async () => {
  expect(config.certificateAuthority).toBe("one");
  access = accessOf("t1", "two");
  await clock.advance(61_000);
  expect((await config.credentials.current()).certificateAuthority).toBe("two");
});

it("leaves what is known in place while it cannot be read", async () => {
  await token();
  access = undefined;
  await clock.advance(61_000);
  expect(await token()).toBe("Bearer t1");
  expect(await config.credentials.refresh()).toBe(false);
});

it("is not followed to another server", async () => {
  access = accessOf("stolen", "one", "https://b");
  await clock.advance(61_000);
  expect(await token()).toBe("Bearer t1");
});
