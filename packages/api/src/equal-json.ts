/** Whether two JSON values are the same, whatever the order of their keys. An absent field equals an undefined one. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b);
  return !Array.isArray(b) && equalObjects(a as Fields, b as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!equalJson(a[i], b[i])) return false;
  return true;
}

function equalObjects(a: Fields, b: Fields): boolean {
  let fields = 0;
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue;
    if (!Object.hasOwn(b, key) || !equalJson(a[key], b[key])) return false;
    fields++;
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined) fields--;
  return fields === 0;
}
