/** The Authorizer port: may this user do that? Every request passes it, in process and over HTTP. */
import type { User } from "../verbs/verbs.ts";

export type Attributes =
  | {
      readonly kind: "resource";
      readonly user: User;
      readonly verb: string;
      readonly group: string;
      readonly version: string;
      readonly plural: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly kind: "path"; readonly user: User; readonly verb: string; readonly path: string };

export interface Authorizer {
  allows(attributes: Attributes): boolean;
}
