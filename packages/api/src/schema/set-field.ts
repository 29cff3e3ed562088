/** Sets a field of an object under construction. `__proto__` becomes a field like any other, never the prototype. */
export function setField<T>(object: Record<string, T>, key: string, value: T): void {
  if (key !== "__proto__") {
    object[key] = value;
    return;
  }
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}
