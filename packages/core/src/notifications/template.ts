/**
 * The body of a notice: a JSON document whose texts name fields in braces, `{"text": "{{summary}}"}`.
 *
 * 1. Fields are put into texts that were parsed before, so no value can change the shape of the document.
 * 2. A name that is no field is refused when the template is read: a template that would send nothing must be found before the night in which it is needed.
 */
import type { Json } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { isFields } from "../fields.ts";
import { fieldsOf, type Notice, testNotice } from "./notice.ts";

/** The built-in templates by the name of their format. */
export const TEMPLATES: Readonly<Record<"json" | "slack" | "alertmanager", Json>> = {
  json: {
    id: "{{id}}",
    event: "{{event}}",
    status: "{{status}}",
    severity: "{{severity}}",
    controlPlane: "{{plane}}",
    summary: "{{summary}}",
    command: "{{command}}",
    cluster: "{{cluster}}",
    evacuation: "{{evacuation}}",
    at: "{{at}}",
    startsAt: "{{startsAt}}",
  },
  slack: { text: "{{icon}} *{{plane}}*: {{summary}}{{run}}" },
  alertmanager: [
    {
      labels: {
        alertname: "{{alert}}",
        severity: "{{severity}}",
        control_plane: "{{plane}}",
        subject: "{{subject}}",
      },
      annotations: { summary: "{{summary}}", description: "{{meaning}}", command: "{{command}}" },
      startsAt: "{{startsAt}}",
      endsAt: "{{endsAt}}",
    },
  ],
};

const FIELD = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** The names of fields that templates may use. */
export const TEMPLATE_FIELDS: readonly string[] = Object.keys(
  fieldsOf(testNotice(instantOf(0)), ""),
).toSorted();

/** The first name in a template that is no field; undefined: the template can be used. */
export function unknownField(template: Json): string | undefined {
  const known = new Set(TEMPLATE_FIELDS);
  return namesIn(template).find((name) => !known.has(name));
}

function namesIn(value: Json): readonly string[] {
  if (typeof value === "string") return [...value.matchAll(FIELD)].map(([, name = ""]) => name);
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return isFields(value) ? Object.values(value as Record<string, Json>).flatMap(namesIn) : [];
}

/** The document to send. */
export function renderNotice(template: Json, notice: Notice, plane: string): Json {
  return filled(template, fieldsOf(notice, plane));
}

function filled(value: Json, fields: Readonly<Record<string, string>>): Json {
  if (typeof value === "string")
    return value.replaceAll(FIELD, (_, name: string) => fields[name] ?? "");
  if (Array.isArray(value)) return value.map((one: Json) => filled(one, fields));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value as Record<string, Json>).map(([key, one]) => [key, filled(one, fields)]),
  );
}
