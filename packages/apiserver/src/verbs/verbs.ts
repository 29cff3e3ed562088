/**
 * The Verbs port: what the server does, without any transport. The HTTP layer and the in-process client both speak to
 * this and to nothing below it, so both pass the same authorization, admission and audit.
 */
import type { AnyObject, JsonObject, Status, Success } from "@lifeboat/api";
import type { User } from "../authentication/user.ts";
import type { ServedResource } from "../catalog/served-resource.ts";
import type { Entry } from "../store/store.ts";

/** The user that asks, and where the server may put warnings beside the answer. */
export interface RequestContext {
  readonly user: User;
  /**
   * The verb that was authorized on the target of this request before its body was decoded; absent: the verb asks. Another
   * verb that the request turns out to need is asked for in any case.
   */
  readonly authorizedVerb?: string | undefined;
  /** Collects texts for Warning headers. */
  warn(text: string): void;
  readonly signal?: AbortSignal;
  readonly userAgent?: string;
}

export interface Target {
  readonly resource: ServedResource;
  /** "" at cluster scope, and for lists over all namespaces. */
  readonly namespace: string;
  readonly name: string;
  /** "", "status", "scale", "finalize", "approval". */
  readonly subresource: string;
}

/** A decoded body. What the decoder noticed rides along, because strict field validation reports it. */
export interface Body {
  readonly object: JsonObject;
  /** Paths of keys that stood twice. */
  readonly duplicateFields?: readonly string[];
  /** Code made the object: fields may be undefined, and are then as good as absent. Only an update may be given such. */
  readonly mayHoldUndefined?: boolean;
}

export interface WriteParameters {
  readonly dryRun: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
}

export interface PatchParameters extends WriteParameters {
  readonly force?: boolean;
}

export type PatchBody =
  | { readonly type: "merge" | "strategic" | "apply"; readonly body: Body }
  | { readonly type: "json"; readonly operations: unknown };

/** meta.k8s.io/v1 DeleteOptions, already checked for type. */
export interface DeleteOptionsBody {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: readonly string[];
}

export interface ListParameters {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly limit: number;
  readonly continue: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
}

export interface WatchParameters {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents?: boolean;
  /** 0: the server chooses. */
  readonly timeoutSeconds: number;
}

/** An object in the version asked for. `bytes` is there when it is the stored form, so it is not encoded again. */
export interface Found {
  readonly object: AnyObject;
  readonly bytes?: Uint8Array;
}

export interface ListAnswer {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly items: readonly Found[];
}

export interface WriteAnswer extends Found {
  /** True answers 201. */
  readonly created: boolean;
}

/** A removed object answers a Status; one that finalizers or grace keep answers itself. */
export type DeleteAnswer =
  | { readonly kind: "gone"; readonly status: Success }
  | ({ readonly kind: "kept" } & Found);

export type ServerWatchEvent =
  | {
      readonly type: "ADDED" | "MODIFIED" | "DELETED";
      readonly object: AnyObject;
      readonly bytes?: Uint8Array;
      readonly entry?: Entry;
    }
  | {
      readonly type: "BOOKMARK";
      readonly resourceVersion: string;
      readonly initialEventsEnd: boolean;
    }
  | { readonly type: "ERROR"; readonly status: Status };

export interface ServerWatchSink {
  /**
   * False means: full. The watch is then cut off. Events that come before `watch` has resolved (the existing objects, the
   * changes since the version asked for) are shared with the store and bounded by it: they are always to be taken.
   */
  event(event: ServerWatchEvent): boolean;
  end(): void;
}

export interface ServerWatch {
  stop(): void;
}

export interface Verbs {
  get(context: RequestContext, target: Target, resourceVersion: string): Promise<Found>;
  list(context: RequestContext, target: Target, parameters: ListParameters): Promise<ListAnswer>;
  /** Rejects when refused before it began; 410 and the like come as an ERROR event, as on the wire. */
  watch(
    context: RequestContext,
    target: Target,
    parameters: WatchParameters,
    sink: ServerWatchSink,
  ): Promise<ServerWatch>;
  create(
    context: RequestContext,
    target: Target,
    body: Body,
    parameters: WriteParameters,
  ): Promise<WriteAnswer>;
  update(
    context: RequestContext,
    target: Target,
    body: Body,
    parameters: WriteParameters,
  ): Promise<WriteAnswer>;
  patch(
    context: RequestContext,
    target: Target,
    patch: PatchBody,
    parameters: PatchParameters,
  ): Promise<WriteAnswer>;
  delete(
    context: RequestContext,
    target: Target,
    options: DeleteOptionsBody,
  ): Promise<DeleteAnswer>;
  deleteCollection(
    context: RequestContext,
    target: Target,
    parameters: ListParameters,
    options: DeleteOptionsBody,
  ): Promise<ListAnswer>;
}
