/** A zone as a zone file. */
import { typeName } from "../wire/constants.ts";
import { dottedName } from "../wire/names.ts";
import { dataText } from "../wire/records.ts";
import type { Zone } from "./zone.ts";

export function zoneLines(zone: Zone): readonly string[] {
  const lines = [`$ORIGIN ${dottedName(zone.apex)}.`, `$TTL ${zone.ttl}`];
  for (const { name, records } of zone.nodes())
    for (const data of records)
      lines.push(`${dottedName(name)}. ${zone.ttl} IN ${typeName(data.type)} ${dataText(data)}`);
  return lines;
}
