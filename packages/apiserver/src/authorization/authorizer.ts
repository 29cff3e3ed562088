/**
 * The Authorizer port: may this user do that? Every request passes it, in process and over HTTP.
 *
 * Answers change with time: `onChange` is for what has to ask again because it asked long ago, such as an open watch.
 */
import type { Cancel } from "@lifeboat/base";
import type { User } from "../authentication/user.ts";

export interface ResourceAttributes {
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

export interface PathAttributes {
  readonly kind: "path";
  readonly user: User;
  readonly verb: string;
  readonly path: string;
}

export type Attributes = ResourceAttributes | PathAttributes;

/** One rule of a Role or ClusterRole, as it is stored. */
export interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** What a user may do in one namespace, as far as it is known. */
export interface UserRules {
  readonly rules: readonly PolicyRule[];
  /** Why rules may be missing: roles that are bound and do not exist. */
  readonly problems: readonly string[];
}

export interface Authorizer {
  allows(attributes: Attributes): boolean;
  /** Why the answer is what it is, for reviews and refusals; "" when there is nothing to add. */
  reason(attributes: Attributes): string;
  /** The rules of a user in a namespace; at cluster scope alone when it is "". */
  rulesOf(user: User, namespace: string): UserRules;
  /** Calls back after every change that may change an answer; the answer of this call ends it. */
  onChange(listener: () => void): Cancel;
}
