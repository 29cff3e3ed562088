/** Secret (v1): the token of a service account is made by the member. */
import { valueAt, withValue } from "../../../fields.ts";
import type { KindHooks } from "../interpreter.ts";

export const TOKEN_SECRET = "kubernetes.io/service-account-token";

export const secret: KindHooks = {
  retain: (desired, observed) => {
    const data = valueAt(observed, "data");
    if (valueAt(desired, "type") !== TOKEN_SECRET || data === undefined) return desired;
    return withValue(desired, ["data"], data);
  },
};
