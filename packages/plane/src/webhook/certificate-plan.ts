/**
 * What has to be done about the webhook's certificate: when it is made, when it is renewed, in which order.
 *
 * 1. A replica never serves a certificate that the API server does not trust yet: a new authority is first added to the
 *    bundle of the webhook configurations, and only then signs the certificate that is served. The one exception is a certificate
 *    that serves nothing any more (none, expired, for other names).
 * 2. An authority stays in the bundle until it has expired: replicas may still serve what it signed.
 * 3. An authority lives longer than two certificates that it signs, so that its renewal is never urgent.
 */
import type { Instant } from "@lifeboat/base";

const DAY_MS = 24 * 60 * 60 * 1000;
export const AUTHORITY_LIFE_MS = 3650 * DAY_MS;
export const SERVING_LIFE_MS = 365 * DAY_MS;
/** Renewed when less than this is left. */
export const AUTHORITY_MARGIN_MS = 2 * SERVING_LIFE_MS;
export const SERVING_MARGIN_MS = 90 * DAY_MS;

export interface CertificateFacts {
  readonly notAfter: Instant;
  /** PEM. */
  readonly pem: string;
}

export interface ServingFacts extends CertificateFacts {
  /** Whether its key fits and the newest authority of the bundle signed it. */
  readonly isByNewest: boolean;
  /** Whether it is for every name under which the API server asks. */
  readonly coversNames: boolean;
  /** Whether its key fits and an authority of the bundle signed it. */
  readonly isTrusted: boolean;
}

export interface WebhookCertificateView {
  /** The bundle of the Secret, the newest first, and whether the key of the newest is there and fits; empty: no Secret that is of use. */
  readonly authorities: readonly CertificateFacts[];
  readonly serving: ServingFacts | undefined;
  /** The bundle of each webhook configuration, as PEM. */
  readonly bundles: readonly string[];
}

export interface WebhookCertificatePlan {
  /** What to make and to put into the Secret; undefined: it stays. */
  readonly make: "authority" | "authority and serving" | "serving" | undefined;
  /** The authorities of the Secret that stay in the bundle. */
  readonly keep: readonly string[];
  /** Whether the bundle of the Secret, as it is after this, has to be written into the webhook configurations. */
  readonly writeBundles: boolean;
  readonly checkAgainAt: Instant | undefined;
}

export function decideWebhookCertificate(
  { authorities, serving, bundles }: WebhookCertificateView,
  now: Instant,
): WebhookCertificatePlan {
  const [newest] = authorities;
  const alive = authorities.filter(({ notAfter }) => notAfter > now);
  const keep = alive.map(({ pem }) => pem);
  const isOfUse =
    serving !== undefined && serving.isTrusted && serving.coversNames && serving.notAfter > now;
  if (newest === undefined || newest.notAfter <= now)
    return { make: "authority and serving", keep, writeBundles: true, checkAgainAt: undefined };
  if (newest.notAfter - now < AUTHORITY_MARGIN_MS) {
    const make = isOfUse ? "authority" : "authority and serving";
    return { make, keep, writeBundles: true, checkAgainAt: undefined };
  }
  const areTrusting = bundles.every((bundle) => bundle.includes(newest.pem.trim()));
  const isDue =
    serving === undefined || !serving.isByNewest || serving.notAfter - now < SERVING_MARGIN_MS;
  const make = !isOfUse || (isDue && areTrusting) ? "serving" : undefined;
  const wanted = bundleOf(keep);
  return {
    make,
    keep,
    writeBundles: bundles.some((bundle) => bundle !== wanted),
    checkAgainAt:
      make === undefined && serving !== undefined ? nextCheck(newest, serving) : undefined,
  };
}

/** The text of a bundle. */
export function bundleOf(pems: readonly string[]): string {
  return pems.map((pem) => `${pem.trim()}\n`).join("");
}

function nextCheck(newest: CertificateFacts, serving: CertificateFacts): Instant {
  return Math.min(
    newest.notAfter - AUTHORITY_MARGIN_MS,
    serving.notAfter - SERVING_MARGIN_MS,
  ) as Instant;
}
