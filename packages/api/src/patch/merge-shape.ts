/** What a strategic merge patch has to know about the type it patches. */
export interface MergeShape {
  /** The shape of a field of this object type; undefined when the type does not have it. */
  field(name: string): FieldShape | undefined;
}

export interface FieldShape {
  readonly kind: "scalar" | "object" | "list" | "map";
  /** Of the object itself, of the list's elements or of the map's values, where those are objects. */
  readonly shape?: MergeShape;
  /** Lists: elements are merged by `mergeKey`, or as a set when there is none. Absent: the list is replaced whole. */
  readonly merge?: boolean;
  readonly mergeKey?: string;
  /** Objects and map-lists whose `$retainKeys` directive is honoured. */
  readonly retainKeys?: boolean;
  /** Objects that are replaced whole instead of merged. */
  readonly replace?: boolean;
}
