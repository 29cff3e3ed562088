/** Paths of plain field names, such as `.spec.replicas`: what most columns and all selectable fields are. */
import { isJsonObject, type Json } from "@lifeboat/api";

const PLAIN = /^(?:\.[A-Za-z0-9_-]+)+$/;

export function isSimplePath(path: string): boolean {
  return PLAIN.test(path);
}

/** A function that follows the path; undefined where it leads nowhere. Only own fields are followed. */
export function simplePath(path: string): (data: unknown) => Json | undefined {
  const names = path.split(".").filter((name) => name !== "");
  return (data) => {
    let value: unknown = data;
    for (const name of names) {
      if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
      value = value[name];
    }
    return value as Json | undefined;
  };
}
