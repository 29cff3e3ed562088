/**
 * `lifeboat dns`: the federation's names. `serve` answers for them beside any control plane; the others tell what is answered and
 * why, confirm a change that is held, and print what a member's CoreDNS needs.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { clusters, configMaps, orNothing, statefulSets } from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { wellKnown } from "@lifeboat/core";
import {
  coreDnsStanza,
  explainName,
  isNetwork,
  memberText,
  zoneNames,
  type NameRecord,
} from "@lifeboat/core/names";
import { CONFIRMATION, readServers, zoneFrom, zoneLines } from "@lifeboat/dns";
import { type Client, createManager, KubeconfigError } from "@lifeboat/kit";
import { createPinoLog, createPromMetrics, loadKubeconfig } from "@lifeboat/kit/adapters";
import type { Command } from "commander";
import { dnsFrom, serveOptions, zoneOptions } from "../dns/dns-options.ts";
import { readSets, readZone } from "../dns/read-names.ts";
import { openDns } from "../dns/run-dns.ts";
import { makeDirectory, parseLogLevel, seedFromProcess } from "../environment.ts";
import { dryRunOption } from "../change-cluster.ts";
import { mayGoOn, yesOption } from "../confirm.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { connect, type FoundPlane, inWords, planeOptions, planePaths } from "../find-plane.ts";
import { parseListen } from "../listen.ts";
import { serveHealth } from "../health-server.ts";
import type { OptionDefinition } from "../options.ts";
import { documentText, type Output, outputFrom, outputOption } from "../output.ts";
import { healthListenOption, logLevelOption } from "../process-options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { isStartedByAnother, stopOnSignal } from "../stopping.ts";
import { columns, hanging } from "../wrap.ts";
import { print, withPlane } from "../with-plane.ts";

export const dnsServeOptions: readonly OptionDefinition[] = [
  ...planeOptions.filter(({ name }) => name !== "data-dir"),
  ...serveOptions,
  {
    name: "state-dir",
    type: "text",
    value: "DIR",
    help: "Where the last confirmed zone is kept, so that a restart needs no control plane; absent: nowhere",
  },
  healthListenOption,
  logLevelOption("warn"),
];

export const dnsReadOptions: readonly OptionDefinition[] = [...planeOptions, ...zoneOptions];

const recordsOptions: readonly OptionDefinition[] = [
  ...dnsReadOptions,
  outputOption(["table", "zone"]),
];

const confirmOptions: readonly OptionDefinition[] = [...planeOptions, yesOption, dryRunOption];

const stanzaOptions: readonly OptionDefinition[] = [
  ...dnsReadOptions,
  {
    name: "servers",
    type: "text",
    value: "ADDRESS[:PORT],…",
    help: "Where the member reaches servers of the zone; default those that report to the control plane",
  },
  {
    name: "cluster-domain",
    type: "text",
    value: "NAME",
    help: "The member's own domain; default the zone",
  },
  {
    name: "reverse",
    type: "text",
    value: "NETWORK,…",
    help: "Networks such as 192.0.2.0/24 that only load balancers of the federation are in: their addresses lead back to pods",
  },
];

export function addDns(program: Command): void {
  const dns = program.command("dns").description("Serve and explain the federation's names");
  const serve = dns
    .command("serve")
    .description("Serve the names of a control plane from this process");
  declareOptions(serve, dnsServeOptions).action(() =>
    inWords(() => serveNames(readSettings(serve, dnsServeOptions))),
  );
  const records = dns.command("records").description("Print every name with its records");
  declareOptions(records, recordsOptions).action(async () => {
    const settings = readSettings(records, recordsOptions);
    const output = outputFrom(settings, ["table", "zone"]);
    await withPlane(settings, (plane) => printRecords(plane, settings, output));
  });
  const explain = dns
    .command("explain")
    .description("Show which members a name answers with, which not, and why")
    .argument("<NAME>", "such as etcd.mynamespace.lifeboat.svc.cluster.local, or an address");
  declareOptions(explain, dnsReadOptions).action(async (name: string) => {
    const settings = readSettings(explain, dnsReadOptions);
    await withPlane(settings, (plane) => explainTo(plane, name, settings));
  });
  const stanza = dns
    .command("stanza")
    .description("Print what the CoreDNS of a member needs to know the names")
    .argument("<CLUSTER>", "the member");
  declareOptions(stanza, stanzaOptions).action(async (cluster: string) => {
    const settings = readSettings(stanza, stanzaOptions);
    await withPlane(settings, (plane) => printStanza(plane, cluster, settings));
  });
  const confirm = dns
    .command("confirm")
    .description("Let a change happen that removes most names and is held");
  declareOptions(confirm, confirmOptions).action(async () => {
    const settings = readSettings(confirm, confirmOptions);
    await withPlane(settings, (plane) => confirmChange(plane, settings));
  });
}

async function serveNames(settings: Settings): Promise<void> {
  const wanted = dnsFrom(settings);
  if (wanted === undefined) throw new UsageError("--dns-listen is needed");
  const healthText = settings.text("health-listen");
  const healthListen =
    healthText === undefined ? undefined : parseListen(healthText, "health-listen");
  const directory = settings.text("state-dir");
  if (directory !== undefined) makeDirectory(directory);
  const ports = {
    clock: createRealClock(),
    random: createRandom(seedFromProcess()),
    log: createPinoLog({ level: parseLogLevel(settings.requiredText("log-level")) }),
    metrics: createPromMetrics(),
  };
  const plane = await connectNow(settings);
  const dns = await openDns(ports, plane.client, wanted, { instance: hostname(), directory });
  const stopping = stopOnSignal({ followsParent: isStartedByAnother(process.env, process.ppid) });
  const health =
    healthListen === undefined
      ? undefined
      : await serveHealth(
          { readiness: () => dns.readiness(), metrics: () => ports.metrics.expose() },
          healthListen,
        );
  const where = health === undefined ? "" : `, and its health on port ${health.port}`;
  process.stdout.write(`Lifeboat serves names on ${dns.address}${where}\n`);
  const announced = dns.whenServed(stopping.signal).then((isServed) => {
    if (isServed) process.stdout.write("ready\n");
  });
  await createManager(ports, dns.services).run(stopping.signal);
  stopping.waitFor("sockets to close");
  await announced;
  await dns.close();
  health?.close();
  plane.close();
}

/** Connects without asking whether the control plane answers: names that were kept are served without it. */
async function connectNow(settings: Settings): Promise<FoundPlane> {
  const context = settings.text("context");
  try {
    const paths = planePaths(settings, process.env);
    return await connect(
      await loadKubeconfig({ paths, ...(context !== undefined && { context }) }),
    );
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new CommandFailed(
      `${error.message}; name the kubeconfig of the control plane with --kubeconfig`,
    );
  }
}

async function printRecords(
  plane: Client,
  settings: Settings,
  output: Output<"table" | "zone">,
): Promise<void> {
  const zone = await readZone(plane, settings);
  const names = zoneNames(await readSets(plane), zone);
  if (output.kind !== "form") {
    process.stdout.write(documentText(output, names));
    return;
  }
  if (output.form === "zone") {
    const nameServers = [{ name: `ns.${names.apex}`, addresses: [] }];
    print(zoneLines(zoneFrom(names, { serial: 0, ttl: zone.ttl, nameServers })));
    return;
  }
  const rows = [...names.owners, ...names.reverse].flatMap(({ name, records }) =>
    records.map((record) => [name, record.type, dataOf(record)]),
  );
  if (rows.length === 0)
    print(hanging("", `${names.apex} has no names: no federated StatefulSet has global names`));
  else print(columns(["NAME", "TYPE", "DATA"], rows));
  for (const { name, winner, loser } of names.clashes)
    print(hanging("", `${name} is the name of ${winner}, and not of ${loser}`));
}

function dataOf(record: NameRecord): string {
  if (record.type === "SRV")
    return `${record.priority} ${record.weight} ${record.port} ${record.target}`;
  if (record.type === "TXT") return record.text;
  return "target" in record ? record.target : record.address;
}

async function explainTo(plane: Client, asked: string, settings: Settings): Promise<void> {
  const zone = await readZone(plane, settings);
  const { name, kind, records, sets, notes } = explainName(asked, await readSets(plane), zone);
  const what = {
    outside: name.endsWith(".arpa")
      ? `${name} is the address of no pod with global names`
      : `${name} is no name of the federation: those end in .${zone.federation}.svc.${zone.zone}`,
    absent: `${name} does not exist`,
    parent: `${name} has no records, only names below it`,
    found: `${name} has ${records.length} record${records.length === 1 ? "" : "s"}`,
  };
  print(hanging("", what[kind]));
  for (const record of records) print([`  ${record.type} ${dataOf(record)}`]);
  for (const { set, members } of sets) {
    print([`StatefulSet ${set.namespace}/${set.set}, Service ${set.namespace}/${set.service}`]);
    for (const member of members) print(hanging("  ", memberText(member)));
  }
  for (const note of notes) print(hanging("", note));
  for (const { instance, state } of await readServers(plane))
    if (state.held !== undefined) print(hanging("", `${instance}: ${state.held}`));
}

async function printStanza(plane: Client, cluster: string, settings: Settings): Promise<void> {
  if ((await orNothing(plane.get(clusters, { namespace: "", name: cluster }))) === undefined)
    throw new CommandFailed(`there is no cluster ${cluster}`);
  const zone = await readZone(plane, settings);
  const given = settings
    .text("servers")
    ?.split(",")
    .map((entry) => entry.trim());
  const reported = (await readServers(plane)).map(({ state }) => state.listen);
  const servers =
    given ?? reported.filter((address) => !/^(0\.0\.0\.0|127\.|\[::1?\])/.test(address));
  if (servers.length === 0)
    throw new UsageError(
      "no server reports an address that a member could reach: name them with --servers",
    );
  const reverse = (settings.text("reverse") ?? "").split(",").flatMap((text) => text.trim() || []);
  for (const network of reverse)
    if (!isNetwork(network))
      throw new UsageError(`--reverse: "${network}" is not valid: ADDRESS/BITS is needed`);
  const local = (await plane.list(statefulSets)).items.filter(({ metadata }) => {
    const { annotations } = metadata;
    return (
      annotations?.[wellKnown.FEDERATED] === "true" &&
      annotations[wellKnown.FEDERATED_SERVICES] !== "true"
    );
  });
  const text = coreDnsStanza({
    ...zone,
    servers,
    reverse,
    clusterDomain: settings.text("cluster-domain") ?? zone.zone,
    local: local.map((set) => ({
      namespace: set.metadata.namespace ?? "",
      service: (set["spec"] as { readonly serviceName?: string } | undefined)?.serviceName ?? "",
    })),
  });
  process.stdout.write(text);
}

async function confirmChange(plane: Client, settings: Settings): Promise<void> {
  const held = (await readServers(plane)).filter(({ state }) => state.held !== undefined);
  if (held.length === 0) {
    print(["no server holds a change: there is nothing to confirm"]);
    return;
  }
  const plan = held.map(({ instance, state }) => `${instance}: ${state.held ?? ""}.`).join(" ");
  if (!(await mayGoOn(settings, plan, "Let these names go?"))) return;
  const confirmed = `${new Date(createRealClock().now()).toISOString()} ${randomUUID()}`;
  const found = await orNothing(plane.get(configMaps, CONFIRMATION));
  if (found === undefined)
    await plane.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: CONFIRMATION,
      data: { confirmed },
    });
  else await plane.update(configMaps, { ...found, data: { confirmed } });
  for (const { instance, state } of held)
    print(hanging("", `confirmed for ${instance}: ${state.held ?? ""}`));
}
