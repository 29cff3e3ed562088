/**
 * Gives every property and fuzz test the same seed in every run, so that a change fails because of what it changed. To look
 * for new counterexamples: `LIFEBOAT_SEED=$RANDOM npm run test:fuzz`. One that is found becomes a test of its own.
 */
import fc from "fast-check";

fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  seed: Number(process.env["LIFEBOAT_SEED"] ?? 1),
});
