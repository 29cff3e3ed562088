/**
 * `lifeboat token`: bootstrap tokens, by which clusters register.
 *
 *     token create     makes one and prints it: it is shown this one time, the embedded control plane keeps a hash
 *     token list       those that exist, without their secret parts
 *     token delete     takes them away
 */
import { randomInt } from "node:crypto";
import {
  type AnyObject,
  configMaps,
  type New,
  type ObjectKey,
  orNothing,
  secrets,
} from "@lifeboat/api";
import { addMs, formatDuration, formatTime, type Instant, sleep } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import {
  BOOTSTRAP_NAMESPACE,
  BOOTSTRAP_TYPE,
  type BootstrapToken,
  bootstrapSecretName,
  bootstrapTokenOf,
  CLUSTER_INFO,
  isExpired,
  kubeconfigOf,
  MAX_TOKEN_LIFE_MS,
  signatureOf,
  tokenFields,
} from "@lifeboat/core/clusters/bootstrap-tokens";
import { AGENT_BOOTSTRAPPERS_GROUP, registrationGroup } from "@lifeboat/core/clusters/rights";
import { type Client, parseClusterInfo } from "@lifeboat/kit";
import type { Command } from "commander";
import { pinsOf } from "../ca-pin.ts";
import { dryRunOption } from "../change-cluster.ts";
import { mayGoOn, yesOption } from "../confirm.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { type Output, outputFrom, outputOption, show } from "../output.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print, withPlane } from "../with-plane.ts";
import { columns } from "../wrap.ts";
import { checkClusterName } from "./join.ts";
import { tell } from "../tell.ts";

export const tokenDeleteOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  yesOption,
  dryRunOption,
];

const FORMS = ["text", "name"] as const;

export const tokenListOptions: readonly OptionDefinition[] = [...planeOptions, outputOption(FORMS)];
export const tokenCreateOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "ttl",
    type: "duration",
    value: "TIME",
    default: "1h",
    min: 1000,
    max: MAX_TOKEN_LIFE_MS,
    help: "How long the token counts",
  },
  {
    name: "cluster",
    type: "text",
    commandLineOnly: true,
    value: "NAME",
    help: "The one cluster that it may register, also when a cluster of this name is registered already",
  },
  { name: "description", type: "text", value: "TEXT", help: "For people who list tokens" },
  {
    name: "print-register-command",
    type: "switch",
    help: "Print the whole command that registers a cluster with it",
  },
];

export function addToken(program: Command): void {
  const parent = program
    .command("token")
    .description("Create, list and delete tokens by which clusters register");
  const create = parent.command("create").description("Create a token and print it");
  declareOptions(create, tokenCreateOptions).action(async () => {
    const settings = readSettings(create, tokenCreateOptions);
    await withPlane(settings, (plane) => createToken(plane, settings));
  });
  const list = parent.command("list").description("The tokens that exist");
  declareOptions(list, tokenListOptions).action(() => {
    const settings = readSettings(list, tokenListOptions);
    const output = outputFrom(settings, FORMS);
    return withPlane(settings, (plane) => listTokens(plane, output));
  });
  const remove = parent
    .command("delete")
    .description("Delete tokens")
    .argument("<ID...>", "their first six characters, or whole tokens");
  declareOptions(remove, tokenDeleteOptions).action((ids: readonly string[]) => {
    const settings = readSettings(remove, tokenDeleteOptions);
    return withPlane(settings, (plane) => deleteTokens(plane, ids, settings));
  });
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

async function createToken(plane: Client, settings: Settings): Promise<void> {
  const cluster = settings.text("cluster");
  if (cluster !== undefined) checkClusterName(cluster);
  const isCommand = settings.isOn("print-register-command");
  // Before the token is made: a command that cannot be printed leaves nothing behind.
  const way = isCommand ? await wayIn(plane) : undefined;
  const ends = addMs(createRealClock().now(), settings.number("ttl"));
  const text = await makeToken(plane, ends, cluster, settings.text("description"));
  const named = cluster ?? "NAME";
  print([
    way === undefined
      ? text
      : `lifeboat register ${way.endpoint} --token ${text} --discovery-token-ca-cert-hash ${way.pin} --cluster-name ${named}`,
  ]);
}

/**
 * Makes a token that counts until then, for one cluster or for any; answers it whole. It waits until the control plane has signed
 * its cluster-info by it: before that a register command finds no such token.
 */
export async function makeToken(
  plane: Client,
  ends: Instant,
  cluster: string | undefined,
  description: string | undefined,
): Promise<string> {
  const token = { id: randomText(6), secret: randomText(16) };
  // A token is signed when it is stored and never later: one that is made before there is a cluster-info could register nothing.
  await publishedKubeconfig(plane);
  await plane.create(secrets, secretOf(token, ends, cluster, description));
  await untilSigned(plane, token.id);
  return `${token.id}.${token.secret}`;
}

const SIGNED_MS = 10_000;
const LOOK_MS = 100;

/** Ends in time all the same: a control plane that is slow to sign may do so before the token is used. */
async function untilSigned(plane: Client, id: string): Promise<void> {
  const clock = createRealClock();
  const deadline = clock.monotonic() + SIGNED_MS;
  while (clock.monotonic() < deadline) {
    const info = await orNothing(plane.get(configMaps, CLUSTER_INFO));
    if (info === undefined || signatureOf(info, id) !== "") return;
    await sleep(clock, LOOK_MS);
  }
  tell(
    "cluster-info is not signed by the token yet, and until then no cluster registers by it: does the controller bootstrapTokens run (lifeboat status)?",
  );
}

function secretOf(
  token: { readonly id: string; readonly secret: string },
  ends: Instant,
  cluster: string | undefined,
  description: string | undefined,
): New<AnyObject> {
  const groups = [
    AGENT_BOOTSTRAPPERS_GROUP,
    ...(cluster === undefined ? [] : [registrationGroup(cluster)]),
  ];
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: bootstrapSecretName(token.id), namespace: BOOTSTRAP_NAMESPACE },
    type: BOOTSTRAP_TYPE,
    stringData: {
      [tokenFields.id]: token.id,
      [tokenFields.secret]: token.secret,
      [tokenFields.expiration]: formatTime(ends),
      [tokenFields.authentication]: "true",
      [tokenFields.signing]: "true",
      [tokenFields.extraGroups]: groups.join(","),
      ...(cluster !== undefined && { [tokenFields.cluster]: cluster }),
      ...(description !== undefined && { [tokenFields.description]: description }),
    },
  };
}

export interface WayIn {
  readonly endpoint: string;
  readonly pin: string;
}

/** Where a cluster registers, and what its authority is recognized by. A control plane that has just started is waited for. */
export async function wayIn(plane: Client): Promise<WayIn> {
  const kubeconfig = await publishedKubeconfig(plane);
  if (kubeconfig === "")
    throw new CommandFailed(
      "the control plane has no ConfigMap kube-public/cluster-info, from which clusters read its address: is it running? Beside a kube-apiserver `lifeboat install` makes it",
    );
  const cluster = parseClusterInfo(kubeconfig);
  const authority = cluster.certificateAuthority;
  const bundle =
    authority?.kind === "data" ? Buffer.from(authority.base64, "base64").toString() : "";
  const [pin] = pinsOf(bundle);
  if (pin === undefined) throw new CommandFailed("cluster-info names no certificate authority");
  return { endpoint: cluster.server.replace(/^https:\/\//, ""), pin };
}

const PUBLISHED_MS = 5000;

/** The kubeconfig of cluster-info, which a controller writes a moment after the control plane serves; empty: none. */
async function publishedKubeconfig(plane: Client): Promise<string> {
  const clock = createRealClock();
  const deadline = clock.monotonic() + PUBLISHED_MS;
  for (;;) {
    const text = kubeconfigOf(await orNothing(plane.get(configMaps, CLUSTER_INFO)));
    if (text !== "" || clock.monotonic() >= deadline) return text;
    await sleep(clock, LOOK_MS);
  }
}

function randomText(length: number): string {
  return Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

async function listTokens(plane: Client, output: Output<(typeof FORMS)[number]>): Promise<void> {
  const { items } = await plane.list<AnyObject>(secrets, {
    namespace: BOOTSTRAP_NAMESPACE,
    fieldSelector: `type=${BOOTSTRAP_TYPE}`,
  });
  const now = createRealClock().now();
  const tokens = items
    .map(bootstrapTokenOf)
    .filter((token): token is BootstrapToken => token !== undefined);
  if (output.kind === "form" && output.form === "name") {
    print(tokens.map(({ id }) => `secret/${bootstrapSecretName(id)}`));
    return;
  }
  show(
    output,
    () =>
      tokens.length === 0
        ? ["there are no tokens"]
        : columns(
            ["ID", "ENDS", "CLUSTER", "USED FOR", "DESCRIPTION"],
            tokens.map((token) => tokenRow(token, now)),
          ),
    // Never the secret, nor its hash.
    () => ({
      tokens: tokens.map(({ id, expires, cluster, usedFor, description }) => ({
        id,
        expires: expires === undefined ? undefined : formatTime(expires),
        cluster,
        usedFor,
        description,
      })),
    }),
  );
}

/** One line of the table of tokens. */
export function tokenRow(token: BootstrapToken, now: Instant): readonly string[] {
  const { id, expires, cluster, usedFor, description } = token;
  const ends = isExpired(token, now)
    ? "ended"
    : expires === undefined
      ? "never"
      : `in ${formatDuration(Math.ceil((expires - now) / 1000) * 1000)}`;
  return [id, ends, cluster === "" ? "any" : cluster, usedFor === "" ? "-" : usedFor, description];
}

async function deleteTokens(
  plane: Client,
  given: readonly string[],
  settings: Settings,
): Promise<void> {
  const ids = given.map((text) => text.split(".")[0] ?? "");
  // A whole token is not repeated: what a terminal shows may be kept.
  for (const id of ids)
    if (!/^[a-z0-9]{6}$/.test(id))
      throw new UsageError("a token is named by its first six characters, a-z and 0-9");
  const now = createRealClock().now();
  const shown: string[] = [];
  for (const id of ids) {
    const found = await orNothing(plane.get<AnyObject>(secrets, keyOf(id)));
    if (found === undefined) throw new CommandFailed(`there is no token ${id}`);
    const token = bootstrapTokenOf(found);
    const [, ends, cluster] = token === undefined ? [] : tokenRow(token, now);
    shown.push(token === undefined ? id : `${id} (cluster: ${cluster}, ends: ${ends})`);
  }
  const plan = `No cluster registers any more with ${shown.join(", ")}; clusters that have registered stay.`;
  if (!(await mayGoOn(settings, plan, "Delete?"))) return;
  for (const id of ids) {
    await orNothing(plane.delete(secrets, keyOf(id)));
    print([`token ${id} is deleted`]);
  }
}

function keyOf(id: string): ObjectKey {
  return { namespace: BOOTSTRAP_NAMESPACE, name: bootstrapSecretName(id) };
}
