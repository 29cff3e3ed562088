/** Addresses that load balancers got in members: the same in a Service and in an Ingress. */
import { equalJson } from "@lifeboat/api";
import { compareText, type Fields, listAt, textAt } from "../../fields.ts";
import type { StatusItem } from "./interpreter.ts";

/** Whether some address can be reached. */
export function hasAddress(object: Fields): boolean {
  return listAt(object, "status", "loadBalancer", "ingress").some(
    (entry) => textAt(entry, "ip") !== "" || textAt(entry, "hostname") !== "",
  );
}

/** The addresses of all clusters, each once, sorted: the whole status of the template. */
export function aggregateAddresses(items: readonly StatusItem[]): Fields {
  const entries = items.flatMap((item) => listAt(item.status, "loadBalancer", "ingress"));
  entries.sort(
    (a, b) =>
      compareText(textAt(a, "ip"), textAt(b, "ip")) ||
      compareText(textAt(a, "hostname"), textAt(b, "hostname")) ||
      compareText(JSON.stringify(a), JSON.stringify(b)),
  );
  const ingress = entries.filter((entry, i) => i === 0 || !equalJson(entry, entries[i - 1]));
  return { loadBalancer: ingress.length === 0 ? {} : { ingress } };
}
