/** The table of kinds that have none of their own: a name and when it was created. */
import type { TablePrinter } from "@lifeboat/api";

export const plainPrinter: TablePrinter = {
  columns: [
    { name: "Name", type: "string", format: "name", description: "", priority: 0 },
    { name: "Created At", type: "date", format: "", description: "", priority: 0 },
  ],
  cells: (object) => [object.metadata.name, object.metadata.creationTimestamp],
};
