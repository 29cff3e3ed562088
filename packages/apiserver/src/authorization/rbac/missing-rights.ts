/**
 * Which of the rights in some rules a user does not hold: the question of escalation.
 *
 * Rules are taken apart into single rights (one group, resource, name and verb; one path and verb) and each is looked up. A
 * rule that comes to more than `MOST_RIGHTS` single ones is not taken apart: it counts as not held, as a whole, unless
 * the user may do everything. Else one request could keep the server busy for hours.
 */
import type { User } from "../../authentication/user.ts";
import type { PolicyRule } from "../authorizer.ts";
import type { Rights } from "./rights.ts";

const MOST_RIGHTS = 100_000;
/** More would make a message that no client shows. */
const MOST_TEXTS = 200;

/** The missing rights as a real server writes them, sorted; none: all are held. */
export function missingRights(
  rights: Rights,
  user: User,
  namespace: string,
  rules: readonly PolicyRule[],
): readonly string[] {
  const texts = new Set<string>();
  let left = MOST_RIGHTS;
  for (const rule of rules) {
    if (texts.size >= MOST_TEXTS) break;
    if (isHeldWhole(rights, user, namespace, rule)) continue;
    left -= countOf(rule);
    if (left < 0) {
      texts.add("{a rule with too many combinations to be checked: split it into several roles}");
      break;
    }
    collectMissing(rights, user, namespace, rule, texts);
  }
  return [...texts].toSorted();
}

/** Whether the user may do everything that a rule of this kind could give. */
function isHeldWhole(rights: Rights, user: User, namespace: string, rule: PolicyRule): boolean {
  if ((rule.nonResourceURLs ?? []).length > 0) return rights.holdsPath(user, namespace, "*", "*");
  return allows(rights, user, namespace, "*", "*", "*", undefined);
}

function countOf(rule: PolicyRule): number {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } = rule;
  const urls = rule.nonResourceURLs ?? [];
  const named = Math.max(resourceNames.length, 1);
  return verbs.length * (urls.length + apiGroups.length * resources.length * named);
}

function collectMissing(
  rights: Rights,
  user: User,
  namespace: string,
  rule: PolicyRule,
  texts: Set<string>,
): void {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } = rule;
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  for (const group of apiGroups)
    for (const resource of resources)
      for (const name of names) {
        const missing = verbs.filter(
          (verb) => !allows(rights, user, namespace, verb, group, resource, name),
        );
        if (missing.length === 0) continue;
        const named = name === undefined ? "" : `, ResourceNames:${quoted([name])}`;
        texts.add(
          `{APIGroups:${quoted([group])}, Resources:${quoted([resource])}${named}, Verbs:${quoted(missing)}}`,
        );
      }
  for (const url of rule.nonResourceURLs ?? []) {
    const missing = verbs.filter((verb) => !rights.holdsPath(user, namespace, verb, url));
    if (missing.length > 0)
      texts.add(`{NonResourceURLs:${quoted([url])}, Verbs:${quoted(missing)}}`);
  }
}

/** A word of a rule is asked like a word of a request: `*` is held only by `*`. */
function allows(
  rights: Rights,
  user: User,
  namespace: string,
  verb: string,
  group: string,
  resource: string,
  name: string | undefined,
): boolean {
  const slash = resource.indexOf("/");
  const subresource = slash < 0 ? "" : resource.slice(slash + 1);
  return rights.holds(user, namespace, { verb, group, resource, subresource, name });
}

function quoted(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(" ")}]`;
}
