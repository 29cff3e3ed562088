/**
 * The order Kubernetes gives API versions: stable before beta before alpha, then the higher number first; texts that
 * are no Kubernetes versions come last, in the order of the alphabet.
 */
const VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STABILITY: Readonly<Record<string, number>> = { stable: 0, beta: 1, alpha: 2 };

/** A comparator that puts the preferred version first: v2, v1, v2beta1, v1beta2, v1alpha1, then everything else. */
export function compareVersions(a: string, b: string): number {
  const left = VERSION.exec(a);
  const right = VERSION.exec(b);
  if (left === null || right === null) {
    if (left !== null) return -1;
    if (right !== null) return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return (
    stabilityOf(left) - stabilityOf(right) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  );
}

function stabilityOf(match: RegExpExecArray): number {
  return STABILITY[match[2] ?? "stable"] ?? 3;
}
