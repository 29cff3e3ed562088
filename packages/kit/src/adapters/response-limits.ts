/**
 * How much one server may send. The control plane's own API server is trusted; a member is not (`MEMBER_LIMITS`).
 *
 * A response beyond its limits is not read to its end, and nothing of it is taken in. What comes faster than
 * `bytesPerSecond` is not refused but waits in the network: a large list of an honest member takes longer, and a
 * flood costs no more than that.
 */
import { ExcessiveResponse } from "../client.ts";

export interface ResponseLimits {
  /** Of one response. */
  readonly maxBytes: number;
  /** Of one object, one event of a watch, or one document that is no list. */
  readonly maxObjectBytes: number;
  /** Objects and lists inside each other, within one object. */
  readonly maxDepth: number;
  /** Values in one object, counted over all levels. */
  readonly maxValues: number;
  /** Items of one page of a list. */
  readonly maxItems: number;
  /** Of all responses together, over time. */
  readonly bytesPerSecond: number;
  /** How much may come at once before `bytesPerSecond` counts. */
  readonly burstBytes: number;
}

const MIB = 1024 * 1024;

/** For servers that are trusted. */
export const TRUSTED_LIMITS: ResponseLimits = {
  maxBytes: 512 * MIB,
  maxObjectBytes: 512 * MIB,
  maxDepth: 10_000,
  maxValues: Infinity,
  maxItems: Infinity,
  bytesPerSecond: Infinity,
  burstBytes: Infinity,
};

/**
 * For members. Kubernetes stores objects of up to 1.5 MiB and serves documents that are nested some thirty levels deep;
 * pages of 250 objects, as members are listed, fit into 16 MiB while objects have less than 64 KiB on average.
 */
export const MEMBER_LIMITS: ResponseLimits = {
  maxBytes: 16 * MIB,
  maxObjectBytes: 4 * MIB,
  maxDepth: 256,
  maxValues: 100_000,
  maxItems: 5000,
  bytesPerSecond: 8 * MIB,
  burstBytes: 64 * MIB,
};

/** Larger responses are read in slices, between which other work goes on; and only a few at a time. */
export const SLICE_BYTES = 256 * 1024;

export function tooLarge(maxBytes: number): ExcessiveResponse {
  return new ExcessiveResponse("ResponseTooLarge", `a response is larger than ${maxBytes} bytes`);
}

export function tooDeep(maxDepth: number): ExcessiveResponse {
  return new ExcessiveResponse(
    "ResponseTooDeep",
    `a response is nested more than ${maxDepth} levels deep`,
  );
}

export function tooManyItems(maxItems: number): ExcessiveResponse {
  return new ExcessiveResponse(
    "TooManyItems",
    `a list has more than ${maxItems} items in one page`,
  );
}

export function tooManyValues(maxValues: number): ExcessiveResponse {
  return new ExcessiveResponse("TooManyItems", `an object has more than ${maxValues} values`);
}

export function tooFast(bytesPerSecond: number): ExcessiveResponse {
  return new ExcessiveResponse(
    "WatchTooFast",
    `responses come faster than ${bytesPerSecond} bytes per second, so they are read with delay`,
  );
}
