/**
 * `lifeboat certs`: every certificate with its end and what renews it; and what a person does about certificates by hand:
 *
 *   certs renew           local, on the files of the data directory: a plane whose certificates ended is repaired by it, whether
 *                         it runs or not
 *   certs rotate-ca       replaces the authority in steps that leave no agent behind
 *   certs revoke          makes a certificate, or all that a user was issued, void within seconds
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AnyObject, clusterRoles, configMaps, leases, orNothing } from "@lifeboat/api";
import {
  commitAuthority,
  finishAuthority,
  openPki,
  prepareAuthority,
} from "@lifeboat/apiserver/adapters";
import { addMs, formatDuration, formatTime, type Instant, parseTime } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { wellKnown } from "@lifeboat/core";
import {
  AGENT_CERTIFICATE_MS,
  bundleMark,
  CA_BUNDLE,
  CERTIFICATE_SKEW_MS,
  refusalOf,
  readRevocations,
  REVOKED_NAME,
  REVOKED_NAMESPACE,
  type Revocation,
  shareLeft,
  withRevocation,
} from "@lifeboat/core/clusters/certificates";
import {
  AGENT_OF,
  agentUser,
  detectorUser,
  REGISTERED_SINCE,
  REGISTERED_UNTIL,
} from "@lifeboat/core/clusters/rights";
import { type Client, KubeconfigError } from "@lifeboat/kit";
import { loadKubeconfig, readCertificate, writeKubeconfig } from "@lifeboat/kit/adapters";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import { listUsers, SIGNED_BY_OTHERS } from "@lifeboat/plane";
import type { Command } from "commander";
import { dryRunOption } from "../change-cluster.ts";
import { mayGoOn, yesOption } from "../confirm.ts";
import { noPlaneIn } from "../data-directory.ts";
import { defaultDataDirectory } from "../environment.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { findPlane, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { ADMIN, ADMIN_GROUPS } from "../plane-certificates.ts";
import { outputFrom, outputOption, show } from "../output.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { formatTable } from "../table.ts";
import { onNewest } from "../on-newest.ts";
import { print, withPlane } from "../with-plane.ts";
import { tell } from "../tell.ts";

export const certsOptions: readonly OptionDefinition[] = [...planeOptions, outputOption(["text"])];
export const certsRenewOptions: readonly OptionDefinition[] = [
  {
    name: "data-dir",
    type: "text",
    value: "DIR",
    help: "The data directory of `lifeboat up`; default $XDG_DATA_HOME/lifeboat",
  },
  {
    name: "kubeconfig-dir",
    type: "text",
    value: "DIR",
    help: "Where lifeboat.kubeconfig is written; default the data directory",
  },
];
export const certsRotateOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "prepare",
    type: "switch",
    help: "Make the next authority, trusted from now on",
    commandLineOnly: true,
  },
  {
    name: "commit",
    type: "switch",
    help: "Let the next authority sign, once all agents trust it",
    commandLineOnly: true,
  },
  {
    name: "finish",
    type: "switch",
    help: "End the trust in the old authority and in all that it signed",
    commandLineOnly: true,
  },
  {
    name: "force",
    type: "switch",
    help: "Do not wait for agents: those left behind have to register again",
    commandLineOnly: true,
  },
  yesOption,
  dryRunOption,
];
export const certsRevokeOptions: readonly OptionDefinition[] = [
  yesOption,
  dryRunOption,
  ...planeOptions,
  {
    name: "serial",
    type: "text",
    commandLineOnly: true,
    narrows: true,
    value: "HEX",
    help: "Only the certificate with this serial number; default all that the user was issued",
  },
];

export function addCerts(program: Command): void {
  const certs = program
    .command("certs")
    .description("Show every certificate with its end; renew, replace and revoke them");
  const list = certs.command("list", { isDefault: true }).description("Show every certificate");
  declareOptions(list, certsOptions).action(async () => {
    await listCertificates(readSettings(list, certsOptions));
  });
  const renew = certs
    .command("renew")
    .description("Renew the plane's own certificates on this host, whether it runs or not");
  declareOptions(renew, certsRenewOptions).action(async () => {
    await renewCertificates(readSettings(renew, certsRenewOptions));
  });
  const rotate = certs
    .command("rotate-ca")
    .description("Replace the plane's authority: --prepare, then --commit, then --finish");
  declareOptions(rotate, certsRotateOptions).action(async () => {
    await rotateAuthority(readSettings(rotate, certsRotateOptions));
  });
  const revoke = certs
    .command("revoke")
    .argument("<user>", "as its certificate names it, such as system:karmada:agent:eu-1")
    .description("Make a user's certificates void within seconds, also on open connections");
  declareOptions(revoke, certsRevokeOptions).action(async (user: string) => {
    const settings = readSettings(revoke, certsRevokeOptions);
    await withPlane(settings, async (plane) => {
      const serial = settings.text("serial");
      await refuseBesideApiServer(plane);
      const what = serial === undefined ? "Every certificate" : `The certificate ${serial}`;
      const plan = `${what} of ${user} is void within seconds, for good; open connections are closed.`;
      if (!(await mayGoOn(settings, plan, "Revoke?"))) return;
      await revokeUser(plane, user, serial);
      print([
        serial === undefined
          ? `every certificate that ${user} was issued until now is void`
          : `the certificate ${serial} of ${user} is void`,
        "its connections and watches end within seconds",
      ]);
    });
  });
}

interface ListedCertificate {
  readonly name: string;
  /** Of those that the control plane issued: when it did. */
  readonly notBefore: Instant;
  readonly notAfter: Instant;
  readonly serial: string;
  readonly renewedBy: string;
  /** `certs revoke` made it void. */
  readonly isRevoked?: boolean;
}

async function listCertificates(settings: Settings): Promise<void> {
  const output = outputFrom(settings, ["text"]);
  const now = createRealClock().now();
  const local = localCertificates(join(dataDirectoryOf(settings), "pki"));
  let remote: readonly ListedCertificate[] = [];
  let problem: string | undefined;
  try {
    const plane = await findPlane(settings);
    try {
      remote = await issuedCertificates(plane.client);
    } finally {
      plane.close();
    }
  } catch (error) {
    if (local.length === 0) throw error;
    problem = error instanceof Error ? error.message : String(error);
  }
  const all = [...local, ...remote];
  const rows = all.map((certificate) => [
    certificate.name,
    formatTime(certificate.notAfter),
    certificate.isRevoked === true ? "revoked" : leftText(certificate.notAfter - now),
    `${Math.round(shareLeft(certificate, now) * 100)} %`,
    certificate.serial,
    certificate.renewedBy,
  ]);
  const head = ["CERTIFICATE", "ENDS", "LEFT", "SHARE", "SERIAL", "RENEWED BY"];
  show(
    output,
    () => formatTable(head, rows).trimEnd().split("\n"),
    () => ({
      certificates: all.map((one) => ({
        ...one,
        notBefore: formatTime(one.notBefore),
        notAfter: formatTime(one.notAfter),
      })),
    }),
  );
  if (problem !== undefined) tell(`those of agents, detectors and users are not shown: ${problem}`);
}

function leftText(ms: number): string {
  if (ms <= 0) return "ended";
  const days = Math.floor(ms / DAY_MS);
  if (days >= 3) return `${days} days`;
  return formatDuration(Math.max(MINUTE_MS, Math.floor(ms / MINUTE_MS) * MINUTE_MS));
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const RENEWERS: readonly (readonly [RegExp, string])[] = [
  [/^ca$/, "lifeboat up, 30 days before its end; sooner: lifeboat certs rotate-ca"],
  [/^ca-next$/, "not in use yet: lifeboat certs rotate-ca --commit"],
  [/^ca-old$/, "nothing: it goes at its end, or by lifeboat certs rotate-ca --finish"],
  [/^server$|^client-admin$/, "lifeboat up; lifeboat certs renew"],
  [/^/, "the person that it was made for (lifeboat users add)"],
];

/** What lies in the data directory, where there is one on this host. */
function localCertificates(directory: string): readonly ListedCertificate[] {
  let files: readonly string[];
  try {
    files = readdirSync(directory);
  } catch {
    // Another host's control plane: its files are not here.
    return [];
  }
  return files
    .filter((file) => file.endsWith(".crt"))
    .toSorted()
    .flatMap((file) => {
      const read = readCertificate(readFileSync(join(directory, file), "utf8"));
      const name = decodeURIComponent(file.slice(0, -".crt".length));
      const renewedBy = RENEWERS.find(([pattern]) => pattern.test(name))?.[1] ?? "";
      return read === undefined ? [] : [{ ...read, name, renewedBy }];
    });
}

/** What the control plane has issued and knows of, with what a person has made void. Agents of clusters that left are not listed. */
export async function issuedCertificates(plane: Client): Promise<readonly ListedCertificate[]> {
  const revocations = readRevocations(
    await orNothing(plane.get(configMaps, { namespace: REVOKED_NAMESPACE, name: REVOKED_NAME })),
  );
  const all = [...(await memberCertificates(plane)), ...(await userCertificates(plane))];
  return all.map((certificate) => ({
    ...certificate,
    isRevoked:
      refusalOf(
        { serial: certificate.serial, user: certificate.name, issued: certificate.notBefore },
        revocations,
        undefined,
      ) !== undefined,
  }));
}

/** Those of agents and detectors, as the ClusterRole of each names the end of its newest one. */
async function memberCertificates(plane: Client): Promise<readonly ListedCertificate[]> {
  const listed = await Promise.all(
    MEMBER_PROCESSES.map(async ({ label, userOf, what }) => {
      const { items } = await plane.list<AnyObject>(clusterRoles, { labelSelector: label });
      return items.flatMap(({ metadata: { annotations = {}, labels = {} } }) => {
        const notAfter = parseTime(annotations[REGISTERED_UNTIL] ?? "");
        const cluster = labels[label];
        if (notAfter === undefined || cluster === undefined) return [];
        const notBefore =
          parseTime(annotations[REGISTERED_SINCE] ?? "") ??
          ((notAfter - AGENT_CERTIFICATE_MS) as Instant);
        const renewedBy = `its ${what}, after 70 to 80 % of its life`;
        return [{ name: userOf(cluster), notBefore, notAfter, serial: "", renewedBy }];
      });
    }),
  );
  return listed.flat();
}

const MEMBER_PROCESSES = [
  { label: AGENT_OF, userOf: agentUser, what: "agent" },
  { label: wellKnown.DETECTOR_OF, userOf: detectorUser, what: "detector" },
] as const;

/** The newest one of each user that `lifeboat users add` made. */
async function userCertificates(plane: Client): Promise<readonly ListedCertificate[]> {
  const users = await listUsers(plane);
  return users.flatMap(({ user, since, until, serial }) => {
    const notAfter = parseTime(until);
    if (notAfter === undefined) return [];
    // A certificate begins before it is issued, because clocks of others may be behind.
    const begins = parseTime(since);
    const notBefore = begins === undefined ? notAfter : addMs(begins, CERTIFICATE_SKEW_MS);
    const renewedBy = `a person: lifeboat users add ${user}`;
    return [{ name: user, notBefore, notAfter, serial, renewedBy }];
  });
}

async function renewCertificates(settings: Settings): Promise<void> {
  const directory = dataDirectoryOf(settings);
  refuseWithoutAuthority(directory);
  const pki = await openPki(createRealClock(), join(directory, "pki"));
  const kubeconfig = join(settings.text("kubeconfig-dir") ?? directory, "lifeboat.kubeconfig");
  const server = await serverOf(kubeconfig);
  const host = new URL(server).hostname.replace(/^\[|\]$/g, "");
  await pki.server([host]);
  const client = await pki.client(ADMIN, ADMIN_GROUPS);
  await writeKubeconfig(kubeconfig, { name: "lifeboat", server, ca: pki.bundle, client });
  print([
    `the certificates in ${join(directory, "pki")} and ${kubeconfig} are good`,
    "a control plane that runs takes them over within seconds",
  ]);
}

/** In a directory that was named by mistake a new authority would be made, which nothing trusts. */
function refuseWithoutAuthority(dataDirectory: string): void {
  if (existsSync(join(dataDirectory, "pki", "ca.crt"))) return;
  throw noPlaneIn(dataDirectory);
}

/** Where the kubeconfig that is there leads to: nothing else knows the address of a plane that is down. */
async function serverOf(kubeconfig: string): Promise<string> {
  try {
    return (await loadKubeconfig({ paths: [kubeconfig] })).cluster.server;
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new CommandFailed(
      `${kubeconfig} cannot be read: ${error.message}; start the control plane (lifeboat up), which renews everything and writes it`,
    );
  }
}

async function rotateAuthority(settings: Settings): Promise<void> {
  const steps = ["prepare", "commit", "finish"].filter((step) => settings.isOn(step));
  if (steps.length !== 1)
    throw new UsageError("rotate-ca: give one step: --prepare, --commit or --finish");
  refuseWithoutAuthority(dataDirectoryOf(settings));
  const directory = join(dataDirectoryOf(settings), "pki");
  const clock = createRealClock();
  const pki = await openPki(clock, directory);
  const [step] = steps;
  if (step === "prepare") {
    if (settings.isOn("dry-run")) {
      print(["the next authority would be made, and trusted beside the current one"]);
      return;
    }
    await prepareAuthority(clock, directory);
    print([
      "the next authority is made, and trusted beside the current one",
      "agents learn of it within a minute; then: lifeboat certs rotate-ca --commit",
    ]);
    return;
  }
  if (step === "finish") {
    if (pki.rotation !== "committed")
      throw new CommandFailed("there is no old authority to end the trust in");
    if (!(await mayGoOn(settings, FINISH_PLAN, "End the trust?"))) return;
    await finishAuthority(clock, directory);
    print(["the old authority is trusted no more, nor is any certificate that it signed"]);
    return;
  }
  if (pki.rotation !== "prepared")
    throw new CommandFailed("there is no next authority: lifeboat certs rotate-ca --prepare");
  const isForced = settings.isOn("force");
  if (!isForced) await refuseLeftBehind(settings, pki.bundle);
  const lost = isForced ? ` ${await lostText(settings, pki.bundle)}` : "";
  if (!(await mayGoOn(settings, `${COMMIT_PLAN}${lost}`, "Let it sign?"))) return;
  await commitAuthority(clock, directory);
  print([
    "the next authority signs from now on; the old one stays trusted",
    "a day later, when agents have renewed: lifeboat certs rotate-ca --finish",
    "clients that do not follow by themselves need the new bundle (kube-public/cluster-info)",
  ]);
}

const COMMIT_PLAN =
  "The next authority signs from now on. What trusts only the old one (an agent that did not fetch the bundle, a kubeconfig that was given away) is cut off.";
const FINISH_PLAN =
  "The old authority is trusted no more: every certificate that it signed is void, for good. Agents, detectors and users that have not renewed since --commit have to register again.";

/** The agents that --force leaves behind; the control plane may be down, which is what --force is for. */
async function lostText(settings: Settings, bundle: string): Promise<string> {
  let behind: readonly string[] = [];
  try {
    await withPlane(settings, async (plane) => {
      behind = await leftBehind(plane, bundle);
    });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return `Which agents do not trust it yet is not known: ${error.message}.`;
  }
  if (behind.length === 0) return "Every agent trusts it.";
  const more = behind.length > SHOWN_AGENTS ? ` and ${behind.length - SHOWN_AGENTS} more` : "";
  return `These agents do not trust it yet, and have to register again: ${behind.slice(0, SHOWN_AGENTS).join(", ")}${more}.`;
}

const SHOWN_AGENTS = 10;

/** Refuses while an agent does not trust the bundle. */
async function refuseLeftBehind(settings: Settings, bundle: string): Promise<void> {
  let behind: readonly string[] = [];
  await withPlane(settings, async (plane) => {
    behind = await leftBehind(plane, bundle);
  });
  if (behind.length > 0)
    throw new CommandFailed(
      `${behind.length === 1 ? "an agent does" : `${behind.length} agents do`} not trust the next authority yet: ${behind.slice(0, SHOWN_AGENTS).join(", ")}${behind.length > SHOWN_AGENTS ? " …" : ""}; wait for them, or go on without them (--force)`,
    );
}

/** The clusters whose agents have not told that they trust this bundle. */
export async function leftBehind(plane: Client, bundle: string): Promise<readonly string[]> {
  const [known, renewed] = await Promise.all([
    plane.list<AnyObject>(clusterRoles, { labelSelector: AGENT_OF }),
    plane.list<AnyObject>(leases, { namespace: wellKnown.CLUSTER_NAMESPACE }),
  ]);
  const marks = new Map(
    renewed.items.map(({ metadata }) => [metadata.name, metadata.annotations?.[CA_BUNDLE]]),
  );
  return known.items
    .map(({ metadata }) => metadata.labels?.[AGENT_OF] ?? "")
    .filter((cluster) => marks.get(cluster) !== bundleMark(bundle))
    .toSorted();
}

/** A kube-apiserver reads no revocations: to write one down would look like help. */
async function refuseBesideApiServer(plane: Client): Promise<void> {
  const published = await readPublished(plane);
  const isManager =
    published?.["leader-elect-resource"] !== undefined ||
    published?.["registration"] === SIGNED_BY_OTHERS;
  if (isManager)
    throw new CommandFailed(
      "beside a kube-apiserver no certificate can be made void before its end: take the rights of its user away (of an agent: let its cluster leave, lifeboat unregister NAME)",
    );
}

/**
 * Makes certificates void, by the clock of the control plane, which dated them. The write takes time: what was issued or asked for
 * meanwhile is as void as what was before, so the time is taken again behind it.
 */
export async function revokeUser(
  plane: Client,
  user: string,
  serial: string | undefined,
): Promise<void> {
  const at = (before: Instant): Revocation =>
    serial === undefined
      ? { user, before }
      : { user, serial: hexOf(serial), until: addMs(before, LONGEST_LIFE_MS), before };
  const asked = await timeOf(plane);
  await addRevocation(plane, at(asked), asked);
  const written = await timeOf(plane);
  if (written > asked) await addRevocation(plane, at(written), written);
}

/** The time by the clock of the control plane, in whole seconds: as it would stamp an object that is made now. */
async function timeOf(plane: Client): Promise<Instant> {
  const metadata = { namespace: REVOKED_NAMESPACE, generateName: "revoked-at-" };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata };
  const made = await plane.create(configMaps, object, { dryRun: true });
  const time = parseTime(made.metadata.creationTimestamp ?? "");
  if (time === undefined) throw new CommandFailed("the control plane does not give its time");
  return time;
}

/** No certificate lives longer, so the entry is of no use afterwards. */
const LONGEST_LIFE_MS = 366 * DAY_MS;

function hexOf(text: string): string {
  const hex = text.replaceAll(":", "").toLowerCase();
  if (!/^[0-9a-f]{1,40}$/.test(hex))
    throw new UsageError(`--serial: "${text}" is not a serial number in hexadecimal digits`);
  return hex;
}

/** Writes one more revocation, on the version that was read. */
export async function addRevocation(
  plane: Client,
  revocation: Revocation,
  now: Instant,
): Promise<void> {
  const key = { namespace: REVOKED_NAMESPACE, name: REVOKED_NAME };
  await onNewest(async () => {
    const found = await orNothing(plane.get(configMaps, key));
    const before = (found?.["data"] ?? {}) as Readonly<Record<string, string>>;
    const data = withRevocation(before, revocation, now);
    if (found === undefined)
      await plane.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: key, data });
    else await plane.update(configMaps, { ...found, data });
  });
}

function dataDirectoryOf(settings: Settings): string {
  return settings.text("data-dir") ?? defaultDataDirectory();
}
