/** The hand-written rules of all built-in kinds, by `apiVersion/Kind`. */
import type { KindRules, KindRulesTable } from "../kind-rules.ts";
import { defaults } from "./defaults.ts";
import { generateJobSelector } from "./job-selector.ts";
import { printers } from "./printers.ts";
import { selectableFields } from "./selectable-fields.ts";
import { validation } from "./validation.ts";

/** Defaults, validation, table columns and selectable fields of every built-in kind that has any. */
export const kindRules: KindRulesTable = joinRules();

function joinRules(): KindRulesTable {
  const names = new Set([
    ...Object.keys(defaults),
    ...Object.keys(printers),
    ...Object.keys(selectableFields),
    ...Object.keys(validation),
  ]);
  return Object.fromEntries([...names].map((name) => [name, rulesOf(name)]));
}

function rulesOf(name: string): KindRules {
  const applyDefaults = defaults[name];
  const printer = printers[name];
  const fields = selectableFields[name];
  return {
    ...(applyDefaults === undefined ? {} : { applyDefaults }),
    ...(name === "batch/v1/Job" ? { prepareCreate: generateJobSelector } : {}),
    ...validation[name],
    ...(printer === undefined ? {} : { printer }),
    ...(fields === undefined ? {} : { selectableFields: fields }),
  };
}
