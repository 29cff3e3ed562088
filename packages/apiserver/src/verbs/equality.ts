/** Equality of objects but for some of their fields. */
import { equalJson } from "@lifeboat/api";

/** Whether two objects are equal in all fields but the named ones. */
export function equalExcept(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
  except: readonly string[],
): boolean {
  for (const key of Object.keys(a)) {
    if (!except.includes(key) && !equalJson(a[key], b[key])) return false;
  }
  for (const key of Object.keys(b)) {
    if (!except.includes(key) && !Object.hasOwn(a, key)) return false;
  }
  return true;
}
