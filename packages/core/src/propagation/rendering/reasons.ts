/** Why a rendering ended as it did. */
import { defineReasons } from "../../plan.ts";

export const renderReasons = defineReasons({
  Rendered: "The copy for this cluster is ready to be applied.",
  TemplateIncomplete: "The template has no kind or no name, so no copy of it can be made.",
  OverrideFailed: "An override policy cannot be applied to the template.",
  IdentityOverridden: "An override policy would turn the copy into another object.",
  SharesUnreadable: "The shares of a federated StatefulSet cannot be read from its binding.",
});

export type RenderReason = keyof typeof renderReasons;

/** Why a namespace reaches the members by itself, or does not. */
export const namespaceReasons = defineReasons({
  Synced: "The namespace is created in every member.",
  Reserved: "The namespace is the control plane's own, or one that every cluster has.",
  SkippedByName: "The operator keeps namespaces of this name from the members.",
  SkippedByLabel: "The namespace bears the label that keeps it from the members.",
  BeingDeleted: "The namespace is being deleted; its copies go when it is gone.",
});

export type NamespaceReason = keyof typeof namespaceReasons;
