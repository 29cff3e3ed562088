/**
 * The webhook's certificate: every replica serves what the Secret holds; the leader makes it, renews it, and writes which
 * authority the API server trusts (certificate-plan.ts decides).
 */
import { equalJson, keyOf, type Resource } from "@lifeboat/api";
import { type Clock, type Instant, sleep } from "@lifeboat/base";
import {
  checkAgainAt,
  type Client,
  createController,
  done,
  Informer,
  type KitPorts,
  type Outcome,
  type Service,
  watching,
} from "@lifeboat/kit";
import {
  AUTHORITY_LIFE_MS,
  bundleOf,
  type CertificateFacts,
  decideWebhookCertificate,
  SERVING_LIFE_MS,
  type ServingFacts,
} from "./certificate-plan.ts";
import {
  type ApiService,
  apiServices,
  CERTIFICATE_SECRET,
  mutatingConfigurations,
  PROXY_API_SERVICE,
  type SecretObject,
  secretResource,
  validatingConfigurations,
  type WebhookConfiguration,
  webhookHosts,
  WEBHOOKS_NAME,
} from "./resources.ts";

export interface CertifiedPair {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

/** The port: makes and reads certificates. */
export interface CertificateMaker {
  authority(from: Instant, lifeMs: number): CertifiedPair;
  serving(
    by: CertifiedPair,
    hosts: readonly string[],
    from: Instant,
    lifeMs: number,
  ): CertifiedPair;
  /** When a certificate ends; undefined: it cannot be read. */
  notAfter(pem: string): Instant | undefined;
  keyFits(pair: CertifiedPair): boolean;
  isSignedBy(certificate: string, authority: string): boolean;
  covers(certificate: string, host: string): boolean;
  /** For a client of this name. */
  client(by: CertifiedPair, name: string, from: Instant, lifeMs: number): CertifiedPair;
  /** SHA-256 of the certificate, lower case and hexadecimal; undefined: it cannot be read. */
  fingerprint(pem: string): string | undefined;
  /** The certificates of a bundle, each as PEM. */
  split(bundle: string): readonly string[];
}

/** What every replica follows: the Secret, the two configurations, and the APIService of the proxy. */
export interface WebhookObjects {
  readonly secret: Informer<SecretObject>;
  readonly mutating: Informer<WebhookConfiguration>;
  readonly validating: Informer<WebhookConfiguration>;
  /** Absent: this replica serves no proxy. */
  readonly apiService?: Informer<ApiService>;
}

export function followWebhook(
  ports: KitPorts,
  client: Client,
  options: { readonly servesProxy: boolean },
): WebhookObjects {
  const { namespace, name } = CERTIFICATE_SECRET;
  const fieldSelector = `metadata.name=${WEBHOOKS_NAME}`;
  return {
    secret: new Informer(ports, client, secretResource, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
    }),
    mutating: new Informer(ports, client, mutatingConfigurations, { fieldSelector }),
    validating: new Informer(ports, client, validatingConfigurations, { fieldSelector }),
    ...(options.servesProxy
      ? {
          apiService: new Informer(ports, client, apiServices, {
            fieldSelector: `metadata.name=${PROXY_API_SERVICE}`,
          }),
        }
      : {}),
  };
}

/** What the Secret holds to serve with; undefined: nothing yet. */
export function servingPair(
  secret: SecretObject | undefined,
): (CertifiedPair & { readonly authority: string }) | undefined {
  const certificate = textOf(secret, "tls.crt");
  const key = textOf(secret, "tls.key");
  const authority = textOf(secret, "ca.crt");
  return certificate === "" || key === "" || authority === ""
    ? undefined
    : { certificate, key, authority };
}

/** The newest authority with its key, and the whole bundle; undefined: nothing yet. */
export function ownAuthority(
  secret: SecretObject | undefined,
  maker: CertificateMaker,
): (CertifiedPair & { readonly bundle: string }) | undefined {
  const bundle = textOf(secret, "ca.crt");
  const [certificate = ""] = maker.split(bundle);
  const pair = { certificate, key: textOf(secret, "ca.key") };
  return maker.keyFits(pair) ? { ...pair, bundle } : undefined;
}

/** Resolves with true once there is a certificate to serve with, and every configuration trusts it. */
export async function untilServed(
  clock: Clock,
  objects: WebhookObjects,
  maker: CertificateMaker,
  signal: AbortSignal,
): Promise<boolean> {
  while (!isServed(objects, maker)) if (!(await sleep(clock, LOOK_MS, signal))) return false;
  return true;
}

const LOOK_MS = 100;

/** Whether the API server, as the configurations are here, trusts the certificate of the Secret. */
export function isServed(objects: WebhookObjects, maker: CertificateMaker): boolean {
  const pair = servingPair(objects.secret.get(CERTIFICATE_SECRET));
  const configurations = configurationsOf(objects);
  if (pair === undefined || configurations.length < 2) return false;
  return allBundles(objects, configurations).every((bundle) =>
    maker.split(bundle).some((ca) => maker.isSignedBy(pair.certificate, ca)),
  );
}

/** The leader's part. `client` writes; it is fenced. */
export function createWebhookCertificates(
  ports: KitPorts,
  client: Client,
  objects: WebhookObjects,
  maker: CertificateMaker,
): Service {
  const key = () => [CERTIFICATE_SECRET];
  return createController(ports, {
    name: "webhook-certificates",
    concurrency: 1,
    watches: [
      watching(objects.secret, key),
      watching(objects.mutating, key),
      watching(objects.validating, key),
      ...(objects.apiService === undefined ? [] : [watching(objects.apiService, key)]),
    ],
    reconcile: (_key, signal) => look(ports, client, objects, maker, signal),
  });
}

async function look(
  { clock, log }: KitPorts,
  client: Client,
  objects: WebhookObjects,
  maker: CertificateMaker,
  signal: AbortSignal,
): Promise<Outcome> {
  const configurations = configurationsOf(objects);
  // Not installed, or being taken away: there is no one to serve.
  if (configurations.length < 2) return done;
  const secret = objects.secret.get(CERTIFICATE_SECRET);
  const hosts = webhookHosts(configurations);
  const now = clock.now();
  const bundles = allBundles(objects, configurations);
  const plan = decideWebhookCertificate({ ...factsOf(secret, hosts, maker), bundles }, now);
  let bundle = bundleOf(plan.keep);
  if (plan.make !== undefined) {
    const data = madeData(secret, plan.make, plan.keep, hosts, now, maker);
    bundle = data["ca.crt"] ?? "";
    await writeSecret(client, secret, data, signal);
    log.info("the certificate of the webhook was renewed", { what: plan.make });
  }
  // The write of the Secret brings the next look, which sees it; bundles are written from what the server holds.
  if (plan.writeBundles) {
    await writeBundle(client, mutatingConfigurations, objects.mutating, bundle, signal);
    await writeBundle(client, validatingConfigurations, objects.validating, bundle, signal);
    await writeServiceBundle(client, objects.apiService?.list() ?? [], bundle, signal);
  }
  return plan.checkAgainAt === undefined ? done : checkAgainAt(plan.checkAgainAt);
}

function factsOf(
  secret: SecretObject | undefined,
  hosts: readonly string[],
  maker: CertificateMaker,
): {
  readonly authorities: readonly CertificateFacts[];
  readonly serving: ServingFacts | undefined;
} {
  const pems = maker.split(textOf(secret, "ca.crt"));
  const [newest = ""] = pems;
  if (!maker.keyFits({ certificate: newest, key: textOf(secret, "ca.key") }))
    return { authorities: [], serving: undefined };
  const authorities = pems.flatMap((pem) => {
    const notAfter = maker.notAfter(pem);
    return notAfter === undefined ? [] : [{ pem, notAfter }];
  });
  const pair = servingPair(secret);
  const notAfter = pair === undefined ? undefined : maker.notAfter(pair.certificate);
  if (pair === undefined || notAfter === undefined) return { authorities, serving: undefined };
  const keyFits = maker.keyFits(pair);
  const signs = (pem: string): boolean => maker.isSignedBy(pair.certificate, pem);
  return {
    authorities,
    serving: {
      pem: pair.certificate,
      notAfter,
      isByNewest: keyFits && signs(newest),
      isTrusted: keyFits && pems.some(signs),
      coversNames: hosts.every((host) => maker.covers(pair.certificate, host)),
    },
  };
}

function madeData(
  secret: SecretObject | undefined,
  make: "authority" | "authority and serving" | "serving",
  keep: readonly string[],
  hosts: readonly string[],
  now: Instant,
  maker: CertificateMaker,
): Readonly<Record<string, string>> {
  const isNew = make !== "serving";
  const authority = isNew
    ? maker.authority(now, AUTHORITY_LIFE_MS)
    : { certificate: keep[0] ?? "", key: textOf(secret, "ca.key") };
  const pems = isNew ? [authority.certificate, ...keep] : keep;
  const serving =
    make === "authority"
      ? { certificate: textOf(secret, "tls.crt"), key: textOf(secret, "tls.key") }
      : maker.serving(authority, hosts, now, SERVING_LIFE_MS);
  return {
    "ca.crt": bundleOf(pems),
    "ca.key": authority.key,
    "tls.crt": serving.certificate,
    "tls.key": serving.key,
  };
}

async function writeSecret(
  client: Client,
  found: SecretObject | undefined,
  texts: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, btoa(text)]));
  if (found !== undefined) {
    await client.update(secretResource, { ...found, data }, { signal });
    return;
  }
  const metadata = { ...CERTIFICATE_SECRET };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data };
  await client.create(secretResource, secret, { signal });
}

async function writeBundle(
  client: Client,
  resource: Resource<WebhookConfiguration>,
  informer: Informer<WebhookConfiguration>,
  bundle: string,
  signal: AbortSignal,
): Promise<void> {
  const found = informer.get({ namespace: "", name: WEBHOOKS_NAME });
  if (found === undefined) return;
  const caBundle = btoa(bundle);
  const webhooks = (found.webhooks ?? []).map((webhook) => ({
    ...webhook,
    clientConfig: { ...webhook.clientConfig, caBundle },
  }));
  if (equalJson(webhooks, found.webhooks ?? [])) return;
  await client.update(resource, { ...found, webhooks }, { signal });
}

async function writeServiceBundle(
  client: Client,
  found: readonly ApiService[],
  bundle: string,
  signal: AbortSignal,
): Promise<void> {
  const caBundle = btoa(bundle);
  for (const one of found)
    if (one.spec?.caBundle !== caBundle)
      await client.update(apiServices, { ...one, spec: { ...one.spec, caBundle } }, { signal });
}

/** The bundle of everything that has to trust the certificate, as PEM. */
function allBundles(
  { apiService }: WebhookObjects,
  configurations: readonly WebhookConfiguration[],
): readonly string[] {
  const services = (apiService?.list() ?? []).map(({ spec }) => fromBase64(spec?.caBundle ?? ""));
  return [...configurations.flatMap(bundlesOf), ...services];
}

function configurationsOf({
  mutating,
  validating,
}: WebhookObjects): readonly WebhookConfiguration[] {
  return [...mutating.list(), ...validating.list()].filter(
    (one) => keyOf(one).name === WEBHOOKS_NAME,
  );
}

/** The bundle of each webhook, as PEM. */
function bundlesOf({ webhooks = [] }: WebhookConfiguration): readonly string[] {
  return webhooks.map(({ clientConfig: { caBundle = "" } }) => fromBase64(caBundle));
}

function textOf(secret: SecretObject | undefined, key: string): string {
  return fromBase64(secret?.data?.[key] ?? "");
}

/** Certificates and keys are ASCII; what is not base64 is of no use. */
function fromBase64(text: string): string {
  try {
    return atob(text);
  } catch {
    return "";
  }
}
