/** What is written by hand about a built-in kind, beside its generated description. All functions are pure. */
import type { FieldError } from "../field-error.ts";
import type { JsonObject } from "../json.ts";
import type { AnyObject } from "../object.ts";
import type { TablePrinter } from "../table.ts";

export interface KindRules {
  readonly applyDefaults?: (object: JsonObject) => JsonObject;
  /** What the server writes into an object that it creates, once it has a uid; after defaults, before validation. */
  readonly prepareCreate?: (object: AnyObject) => AnyObject;
  readonly validateCreate?: (object: AnyObject) => readonly FieldError[];
  /** Beyond `validateCreate`, which an update must satisfy too: what may not change. */
  readonly validateUpdate?: (object: AnyObject, old: AnyObject) => readonly FieldError[];
  readonly printer?: TablePrinter;
  /** Field selectors beyond metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: AnyObject) => string>>;
}

/** By `apiVersion/Kind`, such as `apps/v1/Deployment` or `v1/ConfigMap`. */
export type KindRulesTable = Readonly<Record<string, KindRules>>;
