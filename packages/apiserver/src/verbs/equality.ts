/** Deep equality of JSON. Shared subtrees cost one comparison, which makes it cheap on objects built by spread. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && arraysEqual(a, b);
  if (Array.isArray(b)) return false;
  return objectsEqual(a as Record<string, unknown>, b as Record<string, unknown>);
}

function arraysEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!jsonEqual(a[i], b[i])) return false;
  return true;
}

function objectsEqual(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key) || !jsonEqual(a[key], b[key])) return false;
  }
  return true;
}

/** Whether two objects are equal in all fields but the named ones. */
export function equalExcept(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
  except: readonly string[],
): boolean {
  for (const key of Object.keys(a)) {
    if (!except.includes(key) && !jsonEqual(a[key], b[key])) return false;
  }
  for (const key of Object.keys(b)) {
    if (!except.includes(key) && !Object.hasOwn(a, key)) return false;
  }
  return true;
}
