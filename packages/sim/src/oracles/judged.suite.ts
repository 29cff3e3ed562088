/** Histories made up for oracles. */
import { type Committed, Ledger } from "../disk/ledger.ts";
import { type Circumstances, PLAIN } from "./circumstances.ts";
import { Jury } from "./oracle.ts";
import { alwaysOracles } from "./oracles.ts";
import { Truth } from "./truth.ts";
import { Witness } from "./witness.ts";

/** When the histories begin. */
const BEGAN_AT = Date.UTC(2026, 0, 1);

/** A ledger, and what the oracles said about what was written into it. */
export function judged(circumstances: Circumstances = PLAIN) {
  let now = 0;
  let revision = 0;
  const ledger = new Ledger(() => now, BEGAN_AT);
  const truth = new Truth(ledger, circumstances, new Witness(() => now));
  const jury = new Jury(truth, alwaysOracles);
  const said: string[] = [];
  ledger.onChange((change: Committed) => {
    for (const { oracle, says } of jury.judge(change)) said.push(`${oracle}: ${says}`);
  });
  const write = (
    server: string,
    key: string,
    object: object,
    type: "ADDED" | "MODIFIED" | "DELETED" = "ADDED",
  ): void => {
    revision += 1;
    const bytes = new TextEncoder().encode(JSON.stringify(object));
    ledger.record(server, { revision, type, key, bytes });
  };
  const pass = (milliseconds: number): void => {
    now += milliseconds;
  };
  return { ledger, truth, said, write, pass };
}
