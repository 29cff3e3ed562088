/**
 * The detector: gives every template that a policy selects its claim and its binding.
 *
 * Two controllers: one over templates of all kinds, which does the work, and one over policies, for their finalizers and
 * for policies that select nothing. Rules are in core/propagation/matching.
 */
import { parseApiVersion } from "@lifeboat/api";
import { assert } from "@lifeboat/base";
import { isIgnored, readNamespacePatterns, skipsApi } from "@lifeboat/core/propagation/matching";
import type { Service } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { createPolicyController } from "./policy-controller.ts";
import { createTemplateController, type Ignores } from "./template-controller.ts";

export interface DetectorOptions {
  /** Patterns of whole names of namespaces whose objects are never templates. */
  readonly skippedNamespaces?: readonly string[];
  /** `group`, `group/version` or `group/version/Kind,Kind`: kinds whose objects are never templates. */
  readonly skippedApis?: readonly string[];
}

/** Builds the detector. The patterns must be regular expressions: the caller checks the settings first. */
export function createDetector(
  context: PlaneContext,
  options: DetectorOptions = {},
): readonly Service[] {
  const read = readNamespacePatterns(options.skippedNamespaces ?? []);
  assert(read.outcome === "read", "patterns of namespaces are regular expressions", { read });
  const { skippedApis = [] } = options;
  const ignores: Ignores = (template) =>
    skipsApi(skippedApis, { kind: template.kind, ...parseApiVersion(template.apiVersion) }) ||
    isIgnored(template, read.patterns);
  return [createTemplateController(context, ignores), createPolicyController(context, ignores)];
}
