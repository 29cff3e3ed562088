/**
 * Deep-freezes plain JSON. Objects of this project are always frozen: they are shared between the store, the
 * informers and the controllers of one process, and a change means building a new object.
 *
 * A frozen value is taken to be frozen all the way down, so freezing an object that shares most of its parts with a
 * frozen one costs only the new parts.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) deepFreeze(value[i]);
  } else {
    for (const key in value) deepFreeze(value[key]);
  }
  return Object.freeze(value);
}
