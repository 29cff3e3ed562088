/** How objects look in a table: what `kubectl get` prints. */
import type { Instant } from "@lifeboat/base";
import type { AnyObject } from "./object.ts";

export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** "name" marks the column that identifies the row. */
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority: number;
}

export interface TablePrinter {
  readonly columns: readonly Column[];
  /** As many values as there are columns; numbers stay numbers. */
  cells(object: AnyObject, now: Instant): readonly unknown[];
}
