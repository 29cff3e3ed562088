/**
 * Gives every property and fuzz test the same seed in every run, so that a change fails because of what it changed. To look
 * for new counterexamples: `LIFEBOAT_SEED=$RANDOM npm run test:fuzz`. One that is found becomes a test of its own.
 */
import { createSecureContext } from "node:tls";
import fc from "fast-check";

// Files share loaded modules. Where a test overflows the stack on purpose while Node loads this one, it is left half loaded for
// all that come after; that is how we explain a `tls.createSecureContext is not a function` that was seen once.
if (typeof createSecureContext !== "function") throw new Error("node:tls is not loaded whole");

fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  seed: Number(process.env["LIFEBOAT_SEED"] ?? 1),
});
