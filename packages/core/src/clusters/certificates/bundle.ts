/** How an agent reports which authorities of the control plane it trusts. */
import { safeHash } from "../../placement/division/hash.ts";

/** On the Lease of an agent: `bundleMark` of the CA bundle that it trusts. */
export const CA_BUNDLE = "lifeboat.dev/ca-bundle";

/** A short name of a bundle. It distinguishes bundles, no more: the agent that writes it is trusted for itself alone. */
export function bundleMark(bundle: string): string {
  return safeHash(bundle.replace(/\s+/g, ""));
}
