export { addressBytes, hostNameOf, isLabel, isNetwork, MAX_NAME } from "./addresses.ts";
export {
  decideZoneChange,
  REMOVAL_WINDOW_MS,
  type ZoneChange,
  type ZoneContent,
} from "./change.ts";
export { type Explanation, explainName, memberText } from "./explain.ts";
export type { GlobalMember, GlobalPort, GlobalSet } from "./global-set.ts";
export { namesIn, type NamesView, readGlobalSets } from "./read-sets.ts";
export { type ListingReason, listingReasons } from "./reasons.ts";
export {
  apexOf,
  lostNames,
  type NameClash,
  type NameRecord,
  type OwnedRecords,
  type ZoneNames,
  zoneNames,
  type ZoneSettings,
} from "./records.ts";
export { coreDnsStanza, type StanzaView } from "./stanza.ts";
