/** When the certificate of the webhook is made and renewed, and in which order with the bundles that trust it. */
import { type Instant, instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import {
  AUTHORITY_MARGIN_MS,
  bundleOf,
  decideWebhookCertificate,
  SERVING_MARGIN_MS,
  type ServingFacts,
  type WebhookCertificateView,
} from "./certificate-plan.ts";

const NOW = instantOf(1_800_000_000_000);
const DAY = 24 * 60 * 60 * 1000;
const at = (days: number): Instant => instantOf(NOW + days * DAY);

const OLD = { pem: "old", notAfter: at(3000) };
const NEW = { pem: "new", notAfter: at(3650) };
const SERVING: ServingFacts = {
  pem: "serving",
  notAfter: at(300),
  isByNewest: true,
  isTrusted: true,
  coversNames: true,
};

const decide = (view: Partial<WebhookCertificateView>) =>
  decideWebhookCertificate(
    { authorities: [OLD], serving: SERVING, bundles: ["old\n"], ...view },
    NOW,
  );

describe("the certificate of the webhook", () => {
  it.each<[string, Partial<WebhookCertificateView>, Partial<ReturnType<typeof decide>>]>([
    [
      "that is as it should be stays, until the first margin",
      {},
      { make: undefined, writeBundles: false, checkAgainAt: at(300 - 90) },
    ],
    [
      "is made with its authority where there is none",
      { authorities: [], serving: undefined, bundles: ["", ""] },
      { make: "authority and serving", keep: [], writeBundles: true },
    ],
    [
      "is made by the authority that is there where it alone is missing",
      { serving: undefined },
      { make: "serving", keep: ["old"] },
    ],
    [
      "that is near its end is made anew",
      { serving: { ...SERVING, notAfter: at(89) } },
      { make: "serving" },
    ],
    [
      "that is for other names is made anew at once, also before the bundles trust its authority",
      { serving: { ...SERVING, coversNames: false }, bundles: [""] },
      { make: "serving", writeBundles: true },
    ],
    [
      "that no authority of the bundle signed is made anew at once",
      { serving: { ...SERVING, isTrusted: false, isByNewest: false } },
      { make: "serving" },
    ],
    [
      "keeps serving while its authority, which is near its end, gets a successor",
      { authorities: [{ ...OLD, notAfter: at(700) }] },
      { make: "authority", keep: ["old"], writeBundles: true },
    ],
    [
      "waits until every configuration trusts the new authority",
      {
        authorities: [NEW, OLD],
        serving: { ...SERVING, isByNewest: false },
        bundles: ["new\nold\n", "old\n"],
      },
      { make: undefined, writeBundles: true },
    ],
    [
      "is then made by the new authority",
      {
        authorities: [NEW, OLD],
        serving: { ...SERVING, isByNewest: false },
        bundles: ["new\nold\n", "new\nold\n"],
      },
      { make: "serving", keep: ["new", "old"], writeBundles: false },
    ],
    [
      "of an authority that has expired is made anew with another one",
      { authorities: [{ ...OLD, notAfter: at(-1) }] },
      { make: "authority and serving", keep: [] },
    ],
    [
      "leaves an expired authority out of the bundle",
      { authorities: [NEW, { ...OLD, notAfter: at(-1) }], bundles: ["new\nold\n"] },
      { make: undefined, keep: ["new"], writeBundles: true },
    ],
    [
      "is trusted again where a person changed one bundle",
      { bundles: ["old\n", "nonsense"] },
      { make: undefined, writeBundles: true },
    ],
  ])("%s", (_name, view, plan) => {
    expect(decide(view)).toMatchObject(plan);
  });

  it("has margins that leave time for a renewal", () => {
    expect(AUTHORITY_MARGIN_MS).toBeGreaterThan(SERVING_MARGIN_MS);
    expect(bundleOf(["a\n\n", "b"])).toBe("a\nb\n");
  });
});
