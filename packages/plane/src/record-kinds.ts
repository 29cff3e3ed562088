/**
 * The kinds in which controllers keep their own records. Persons edit them in emergencies only; what persons and controllers both
 * write as a matter of course (Clusters, policies) is not among them.
 */
export const RECORD_KINDS: ReadonlySet<string> = new Set([
  "ResourceBinding",
  "ClusterResourceBinding",
  "Work",
  "Evacuation",
  "EvacuationSlice",
  "EvacuationBudget",
  "LedgerSlice",
]);
