/** Why a rendering ended as it did. */
import { defineReasons } from "../plan.ts";

export const renderReasons = defineReasons({
  Rendered: "The copy for this cluster is ready to be applied.",
  TemplateIncomplete: "The template has no kind or no name, so no copy of it can be made.",
  OverrideFailed: "An override policy cannot be applied to the template.",
  IdentityOverridden: "An override policy would turn the copy into another object.",
});

export type RenderReason = keyof typeof renderReasons;
