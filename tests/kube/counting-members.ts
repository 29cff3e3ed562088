/**
 * Members whose API counts writes: API servers in processes of their own, whose audit log names every request that changes
 * something. Nothing runs in them, so whatever is written there was written by a control plane, or by the test.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AnyObject, type Cluster, type New } from "@lifeboat/api";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import { newCluster, newObject, resources } from "@lifeboat/testkit";
import { ONLY_API, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";
import type { Started } from "../support/started.ts";

export interface CountingMember {
  readonly name: string;
  readonly client: HttpClient;
  /** What joins it. */
  readonly objects: { readonly secret: New<AnyObject>; readonly cluster: New<Cluster> };
  /** Every write by a control plane so far, as `verb resource namespace/name`. */
  writes(): readonly string[];
}

/** The user by whom a control plane reaches its members. */
const USER = "control-plane";

export async function startCountingMember(started: Started, name: string): Promise<CountingMember> {
  const directory = temporaryDirectory("member");
  started.keep({ stop: () => Promise.resolve(removeDirectory(directory)) });
  const tokens = join(directory, "tokens.csv");
  const log = join(directory, "audit.log");
  const token = `token-of-${name}`;
  writeFileSync(tokens, `${token},${USER},1,"system:masters"\n`, { mode: 0o600 });
  const args = [...ONLY_API, "--token-auth-file", tokens, "--audit-log-path", log];
  const running = started.keep(await startLifeboat({ args }));
  const client = await connectByKubeconfig({ paths: [running.kubeconfig] });
  started.keep({ stop: () => Promise.resolve(client.close()) });
  return {
    name,
    client,
    objects: {
      secret: newObject(
        resources.secrets,
        {
          name,
          namespace: "karmada-cluster",
          annotations: { "lifeboat.dev/api-endpoint": running.url },
        },
        { type: "Opaque", data: { token: btoa(token), caBundle: caOf(running.kubeconfig) } },
      ),
      cluster: newCluster(name, { apiEndpoint: running.url }),
    },
    writes: () => readFileSync(log, "utf8").split("\n").filter(Boolean).flatMap(writeIn),
  };
}

function caOf(kubeconfig: string): string {
  const [, ca = ""] =
    /certificate-authority-data"?: "?([A-Za-z0-9+/=]+)/.exec(readFileSync(kubeconfig, "utf8")) ??
    [];
  return ca;
}

function writeIn(line: string): readonly string[] {
  const { user, verb, objectRef } = JSON.parse(line) as {
    readonly user: { readonly username?: string };
    readonly verb: string;
    readonly objectRef?: Readonly<Record<string, string>>;
  };
  if (user.username !== USER || ["get", "list", "watch"].includes(verb)) return [];
  const { resource = "", namespace = "", name = "" } = objectRef ?? {};
  return [`${verb} ${resource} ${namespace}/${name}`];
}
