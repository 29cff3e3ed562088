/**
 * What is refused of a ResourceInterpreterCustomization beyond its schema: scripts that are no Lua, and a second script
 * for a question about a kind that another customization answers already. Several may find dependencies of one kind: what
 * they find is added up.
 *
 * Only what a write changes is checked, so that an object stored before can always be relabelled. Two writes at the
 * same moment may both pass; then the older one is used, and an Event on the other reports it.
 */
import {
  type AnyObject,
  failure,
  type FieldError,
  invalid,
  invalidObject,
  Refused,
  type ResourceInterpreterCustomization,
  resourceInterpreterCustomizations,
} from "@lifeboat/api";
import type { AdmissionPlugin } from "@lifeboat/apiserver";
import { ADDED_UP, type ScriptEngine, ScriptFailed } from "@lifeboat/controllers/context";
import type { Client } from "@lifeboat/kit";

/** `plane` reads the customizations that are there; it is asked for when the first one is written. */
export function createCustomizationAdmission(
  scripts: Pick<ScriptEngine, "check">,
  plane: () => Client,
): AdmissionPlugin {
  return {
    name: "ResourceInterpreterCustomization",
    handles: ({ operation, subresource, resource }) =>
      operation !== "DELETE" &&
      subresource === "" &&
      resource.kind === resourceInterpreterCustomizations.kind &&
      resource.group === resourceInterpreterCustomizations.group,
    validate: async ({ object, old, resource, name }) => {
      const changed = changedScripts(object, old);
      if (changed.length === 0) return;
      const errors: FieldError[] = [];
      for (const { field, script } of changed) {
        const problem = await check(scripts, script);
        if (problem !== undefined) errors.push(invalid(field, shorten(script), problem));
      }
      const { items } = await plane().list(resourceInterpreterCustomizations);
      errors.push(...takenParts(customizationOf(object), changed, items));
      if (errors.length > 0) throw invalidObject(resource, name, errors);
    },
  };
}

async function check(
  scripts: Pick<ScriptEngine, "check">,
  script: string,
): Promise<string | undefined> {
  try {
    return await scripts.check(script);
  } catch (error) {
    if (!(error instanceof ScriptFailed)) throw error;
    const message = `the script could not be checked: ${error.message}`;
    throw new Refused(failure(503, "ServiceUnavailable", message, { retryAfterSeconds: 1 }));
  }
}

type Part = keyof ResourceInterpreterCustomization["spec"]["customizations"];

interface ChangedScript {
  readonly part: Part;
  readonly field: string;
  readonly script: string;
}

/** The scripts that a write brings: new ones, other ones, and all when they are for another kind. */
function changedScripts(
  object: AnyObject | undefined,
  old: AnyObject | undefined,
): readonly ChangedScript[] {
  const now = customizationOf(object)?.spec;
  const before = customizationOf(old)?.spec;
  const isSameTarget =
    before?.target.apiVersion === now?.target.apiVersion &&
    before?.target.kind === now?.target.kind;
  return partsOf(now?.customizations).flatMap(([part, script]) =>
    isSameTarget && before?.customizations[part]?.luaScript === script
      ? []
      : [{ part, script, field: `spec.customizations.${part}.luaScript` }],
  );
}

function partsOf(
  customizations: ResourceInterpreterCustomization["spec"]["customizations"] | undefined,
): readonly (readonly [Part, string])[] {
  const parts = Object.entries(customizations ?? {}) as readonly [
    Part,
    { readonly luaScript?: string } | undefined,
  ][];
  return parts.flatMap(([part, given]) =>
    given?.luaScript === undefined ? [] : [[part, given.luaScript] as const],
  );
}

function takenParts(
  customization: ResourceInterpreterCustomization | undefined,
  changed: readonly ChangedScript[],
  others: readonly ResourceInterpreterCustomization[],
): readonly FieldError[] {
  if (customization === undefined) return [];
  const { target } = customization.spec;
  const rivals = others.filter(
    ({ metadata, spec }) =>
      metadata.name !== customization.metadata.name &&
      spec.target.apiVersion === target.apiVersion &&
      spec.target.kind === target.kind,
  );
  return changed.flatMap(({ part, field, script }) => {
    if (ADDED_UP.has(part)) return [];
    const taken = rivals.find(({ spec }) => spec.customizations[part] !== undefined);
    if (taken === undefined) return [];
    const why = `the customization ${taken.metadata.name} has a script for this of ${target.apiVersion} ${target.kind} already`;
    return [invalid(field, shorten(script), why)];
  });
}

/** The schema has accepted the object before it is validated. */
function customizationOf(
  object: AnyObject | undefined,
): ResourceInterpreterCustomization | undefined {
  return object as ResourceInterpreterCustomization | undefined;
}

/** Enough of a script to know which is meant; an answer that repeats it whole is no help. */
function shorten(script: string): string {
  const [first = ""] = script.split("\n", 1);
  return first.length <= 60 && first.length === script.length ? script : `${first.slice(0, 60)}…`;
}
