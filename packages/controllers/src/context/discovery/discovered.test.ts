/** Reading discovery documents that were not written to be read. */
import type { Json } from "@lifeboat/api";
import { type Client, excessIn } from "@lifeboat/kit";
import { expect, it } from "vitest";
import { discover } from "./discovered.ts";

function serving(documents: Readonly<Record<string, Json>>) {
  const asked: string[] = [];
  const read = (path: string): Promise<Json> => {
    asked.push(path);
    return Promise.resolve(documents[path] ?? { resources: [] });
  };
  return { asked, client: { read } as unknown as Client };
}

const group = (name: string, version = "v1", groupVersion = `${name}/${version}`): Json => ({
  name,
  versions: [{ groupVersion, version }],
});

it("asks for nothing that is not named as groups are", async () => {
  const groups = [
    group("apps"),
    group("../../etc"),
    group("a b"),
    group("x".repeat(300)),
    group("fine.io", "v1", "other.io/v1"),
    group("fine.io", "v1?watch=true"),
  ];
  const { client, asked } = serving({ "/apis": { groups } });
  await discover(client);
  expect(asked).toEqual(["/apis", "/api/v1", "/apis/apps/v1"]);
});

it("leaves out resources whose names would not do", async () => {
  const names = ["pods", "pods/log", "Pods", "../x", "", "x".repeat(300)];
  const resources = names.map((name) => ({ name, kind: "Pod", verbs: ["get"] }));
  const kinds = ["<html>", "", "x".repeat(300)].map((kind) => ({ name: "things", kind }));
  const { client } = serving({ "/api/v1": { resources: [...resources, ...kinds] } });
  const found = await discover(client);
  expect(found.resources.map(({ plural, kind }) => [plural, kind])).toEqual([["pods", "Pod"]]);
});

it("refuses an API with too many groups, before it asks for any of them", async () => {
  const groups = Array.from({ length: 50_000 }, (_, i) => group(`g${i}.io`));
  const { client, asked } = serving({ "/apis": { groups } });
  const error = await discover(client).catch((e: unknown) => e);
  expect(excessIn(error)?.kind).toBe("TooManyItems");
  expect(asked).toEqual(["/apis"]);
});
