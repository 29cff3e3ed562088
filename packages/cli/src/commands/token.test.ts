/** A token is stored only when it can be signed: the control plane knows it at that moment and never again. */
import { type AnyObject, configMaps, notFound, type Resource } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";
import { expect, it } from "vitest";
import { makeToken } from "./token.ts";

it("waits for the cluster-info of a control plane that has just started", async () => {
  const asked: string[] = [];
  let left = 3;
  let info: AnyObject | undefined;
  const plane = {
    get: (resource: Resource): Promise<AnyObject> => {
      asked.push(`get ${resource.plural}`);
      left -= 1;
      if (left > 0) return Promise.reject(notFound(resource, "cluster-info"));
      info ??= { ...ANY, data: { kubeconfig: "kind: Config" } };
      return Promise.resolve(info);
    },
    create: (resource: Resource, made: { stringData: Record<string, string> }): Promise<void> => {
      asked.push(`create ${resource.plural}`);
      const id = made.stringData["token-id"];
      // What the admission of Secrets does: without a cluster-info there is nothing to sign.
      if (info !== undefined) info = { ...info, data: { [`jws-kubeconfig-${id}`]: "signed" } };
      return Promise.resolve();
    },
  };
  await makeToken(plane as unknown as Client, instantOf(0), undefined, undefined);
  const gets = Array.from({ length: 3 }, () => `get ${configMaps.plural}`);
  expect(asked).toEqual([...gets, "create secrets", gets[0]]);
});

const ANY: AnyObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "cluster-info", uid: "u", resourceVersion: "1", creationTimestamp: "" },
};
