/**
 * The admission chain: what happens to an object between its decoding and its storing, beyond its own schema.
 *
 * Mutators run first, in order, then validators. Each may refuse by throwing `Refused`. A plugin that needs no waiting
 * answers at once (no promise), so that the common write stays synchronous up to its commit.
 */
import type { AnyObject, Resource } from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import type { User } from "../authentication/user.ts";

export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  /** What of a served resource is also known behind a webhook. */
  readonly resource: Resource & Pick<ServedResource, "table">;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: User;
  readonly dryRun: boolean;
  /** Absent on DELETE. */
  readonly object?: AnyObject;
  /** Absent on CREATE. */
  readonly old?: AnyObject;
  warn(text: string): void;
}

export interface AdmissionPlugin {
  readonly name: string;
  handles(request: AdmissionRequest): boolean;
  /** Answers the object to go on with. */
  mutate?(request: AdmissionRequest): AnyObject | Promise<AnyObject>;
  validate?(request: AdmissionRequest): void | Promise<void>;
}
