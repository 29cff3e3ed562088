/**
 * `-o`: how a command prints what it found, in one grammar. Every command that shows something takes `json`, `yaml` and
 * `jsonpath=TEMPLATE`, beside the forms for people that it has.
 */
import {
  compileJsonPath,
  encodeYaml,
  formatJsonPathResults,
  type Json,
  JsonPathError,
} from "@lifeboat/api";
import { CommandFailed, UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
import type { Settings } from "./settings.ts";

const DOCUMENTS = ["json", "yaml", "jsonpath=TEMPLATE"] as const;
const JSONPATH = /^jsonpath(?:=([\s\S]*))?$/;

/** How a whole document is printed, for programs. */
export type DocumentOutput =
  | { readonly kind: "json" }
  | { readonly kind: "yaml" }
  | { readonly kind: "jsonpath"; readonly template: string };

/** One of the forms that a command has for people, or a document. */
export type Output<Form extends string> =
  | { readonly kind: "form"; readonly form: Form }
  | DocumentOutput;

/** The option; the first form is the default. */
export function outputOption(forms: readonly [string, ...string[]]): OptionDefinition {
  return {
    name: "output",
    short: "o",
    type: "text",
    value: "FORMAT",
    default: forms[0],
    help: `How it is printed: ${[...forms, ...DOCUMENTS].join(", ")}`,
  };
}

/** What was asked for; throws UsageError on a form that there is not. */
export function outputFrom<Form extends string>(
  settings: Pick<Settings, "requiredText">,
  forms: readonly Form[],
): Output<Form> {
  const asked = settings.requiredText("output");
  const form = forms.find((one) => one === asked);
  if (form !== undefined) return { kind: "form", form };
  if (asked === "json" || asked === "yaml") return { kind: asked };
  const path = JSONPATH.exec(asked);
  if (path !== null) return { kind: "jsonpath", template: checkedPath(path[1] ?? "") };
  const known = [...forms, ...DOCUMENTS].join(", ");
  throw new UsageError(
    `--output: ${JSON.stringify(asked)} is not valid: one of ${known} is needed`,
  );
}

/** As kubectl reads it: `jsonpath={.items[*].metadata.name}`; a path without braces gets them. */
function checkedPath(text: string): string {
  const template = text.includes("{") || text === "" ? text : `{${text}}`;
  const example = "such as -o jsonpath='{.clusters[*].name}'";
  if (template === "") throw new UsageError(`--output: jsonpath needs a template, ${example}`);
  try {
    compileJsonPath(template);
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    throw new UsageError(
      `--output: the JSONPath is not valid: ${error.message}; write it ${example}`,
    );
  }
  return template;
}

/** The document as text, with its last line ended. */
export function documentText(output: DocumentOutput, value: unknown): string {
  // What is absent is no key of a document.
  const document = JSON.parse(JSON.stringify(value)) as Json;
  switch (output.kind) {
    case "json":
      return `${JSON.stringify(document, null, 2)}\n`;
    case "yaml":
      return encodeYaml(document);
    case "jsonpath":
      return `${evaluated(output.template, document)}\n`;
  }
}

/**
 * One document of many, for programs that read them as they come: JSON is a line, YAML is divided by `---`, a JSONPath is a line, which
 * is empty where this document has nothing of it.
 */
export function streamedText(output: DocumentOutput, value: unknown): string {
  switch (output.kind) {
    case "json":
      return `${JSON.stringify(value)}\n`;
    case "yaml":
      return `---\n${documentText(output, value)}`;
    case "jsonpath": {
      const path = compileJsonPath(output.template, { allowMissingKeys: true });
      return `${formatJsonPathResults(path.evaluate(JSON.parse(JSON.stringify(value)) as Json))}\n`;
    }
  }
}

function evaluated(template: string, document: Json): string {
  try {
    return formatJsonPathResults(compileJsonPath(template).evaluate(document));
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    throw new CommandFailed(
      `the JSONPath finds nothing here: ${error.message}; -o json shows what there is`,
    );
  }
}

/** The same for people and for programs. */
export interface Shown {
  readonly lines: () => readonly string[];
  readonly document: () => unknown;
}

/** Prints lines for people, or the document that holds the same. */
export function show(
  output: Output<string>,
  lines: () => readonly string[],
  document: () => unknown,
): void {
  process.stdout.write(
    output.kind === "form"
      ? lines()
          .map((line) => `${line}\n`)
          .join("")
      : documentText(output, document()),
  );
}

/** Objects of an API as kubectl prints them: one by itself, or a List. */
export function objectsText(
  output: DocumentOutput,
  objects: readonly unknown[],
  isOne: boolean,
): string {
  const [first] = objects;
  const list = {
    apiVersion: "v1",
    kind: "List",
    metadata: { resourceVersion: "" },
    items: objects,
  };
  return documentText(output, isOne && first !== undefined ? first : list);
}
