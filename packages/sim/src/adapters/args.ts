/** What the words after `npm run sim --` order. */
import { parseArgs } from "node:util";
import type { SizeName } from "./work.ts";

export type Order =
  | { readonly order: "worker" }
  | { readonly order: "replay"; readonly file: string }
  | { readonly order: "corpus" }
  | { readonly order: "seed"; readonly seed: number; readonly size: SizeName }
  | { readonly order: "golden"; readonly name: string; readonly workers: number }
  | { readonly order: "soak"; readonly hours: number }
  | PairsOrder
  | SearchOrder;

export interface PairsOrder {
  readonly order: "pairs";
  readonly name: string;
  /** It begins no pairs after so many minutes. */
  readonly minutes: number;
  readonly workers: number;
}

export interface SearchOrder {
  readonly order: "search";
  /** The first seed; those after it follow in their order. */
  readonly from: number;
  /** It begins no seed after so many minutes. */
  readonly minutes: number;
  /** It runs so many seeds at most. */
  readonly seeds: number;
  readonly size: SizeName;
  readonly workers: number;
}

const options = {
  seed: { type: "string" },
  from: { type: "string" },
  minutes: { type: "string" },
  seeds: { type: "string" },
  replay: { type: "string" },
  corpus: { type: "boolean" },
  golden: { type: "string" },
  "golden-pairs": { type: "string" },
  size: { type: "string" },
  soak: { type: "string" },
  workers: { type: "string" },
  worker: { type: "boolean" },
} as const;

/** The order that the words give; `cores`: how many workers there are when nobody says. */
export function orderOf(words: readonly string[], cores: number): Order {
  const { values } = parseArgs({ args: [...words], options });
  const { seed, replay, golden } = values;
  if (values.worker === true) return { order: "worker" };
  if (replay !== undefined) return { order: "replay", file: replay };
  if (values.corpus === true) return { order: "corpus" };
  const hours = whole("--soak", values.soak);
  if (hours !== undefined) return { order: "soak", hours };
  const workers = whole("--workers", values.workers) ?? cores;
  if (golden !== undefined) return { order: "golden", name: golden, workers };
  const minutes = positive("--minutes", values.minutes);
  const pairs = values["golden-pairs"];
  if (pairs !== undefined) return { order: "pairs", name: pairs, minutes: minutes ?? 1, workers };
  const size = sizeNamed(values.size ?? "small");
  if (seed !== undefined) return { order: "seed", seed: whole("--seed", seed) ?? 0, size };
  const seeds = whole("--seeds", values.seeds);
  return {
    order: "search",
    from: whole("--from", values.from) ?? 1,
    minutes: minutes ?? (seeds === undefined ? 1 : Infinity),
    seeds: seeds ?? Infinity,
    size,
    workers,
  };
}

const SIZE_NAMES = ["small", "large", "pull", "traffic", "federated"] as const;

function sizeNamed(name: string): SizeName {
  const found = SIZE_NAMES.find((one) => one === name);
  if (found !== undefined) return found;
  throw new Error(`--size is one of ${SIZE_NAMES.join(", ")}, not ${name}`);
}

function whole(option: string, text: string | undefined): number | undefined {
  const number = positive(option, text);
  if (number === undefined || Number.isSafeInteger(number)) return number;
  throw new Error(`${option} takes a whole number, not ${text}`);
}

function positive(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text !== "" && Number.isFinite(number) && number > 0) return number;
  throw new Error(`${option} takes a number above 0, not ${text}`);
}
