/** ServiceAccount (v1): members add the secrets of tokens and registries. */
import { type Fields, listAt, textAt, valueAt, withValue } from "../../../fields.ts";
import type { KindHooks } from "../interpreter.ts";

export const serviceAccount: KindHooks = {
  retain: (desired, observed) =>
    retainList(retainList(desired, observed, "secrets"), observed, "imagePullSecrets"),
};

/** The desired references, then those of the member that are not among them. */
function retainList(desired: Fields, observed: Fields, name: string): Fields {
  const actual = valueAt(observed, name);
  if (!Array.isArray(actual)) return desired;
  const wanted = listAt(desired, name);
  const names = new Set(wanted.map((reference) => textAt(reference, "name")));
  const added = listAt(observed, name).filter((reference) => !names.has(textAt(reference, "name")));
  return withValue(desired, [name], [...wanted, ...added]);
}
