/** The table columns and cells of the built-in kinds; one file per family in `printers/`. */
import type { Printers } from "./printer.ts";
import { accessPrinters } from "./printers/access.ts";
import { clusterPrinters } from "./printers/cluster.ts";
import { networkingPrinters } from "./printers/networking.ts";
import { storagePrinters } from "./printers/storage.ts";
import { workloadsPrinters } from "./printers/workloads.ts";

/** By `apiVersion/Kind`. Kinds that are not here print their name and age of creation. */
export const printers: Printers = {
  ...workloadsPrinters,
  ...networkingPrinters,
  ...storagePrinters,
  ...accessPrinters,
  ...clusterPrinters,
};
